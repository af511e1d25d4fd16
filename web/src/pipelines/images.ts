// The images of a call, and their pixels for the model.

import type { ImageInput } from '../image/image_input.js';
import type { ImageProcessor, ImageProcessorOutput } from '../image/image_processor.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';

/** One image or several, as a list, of which holes are no images. */
export function imageList(images: ImageInput | readonly ImageInput[]): readonly ImageInput[] {
  return Array.isArray(images) ? Array.from(images as readonly ImageInput[]) : [images as ImageInput];
}

/** Preprocesses images: as RGB, which upstream's pipelines read all images as, or grey for models of one channel. */
export function pixelsOf(
  { model: { config }, processor }: { model: Pick<PreTrainedModel, 'config'>; processor: ImageProcessor },
  images: readonly ImageInput[],
  signal: AbortSignal | undefined,
): Promise<ImageProcessorOutput> {
  return processor(images, { num_channels: channelsOf(config), signal });
}

/** The channels of the images that a model reads. */
export function channelsOf(config: PreTrainedModel['config']): 1 | 3 {
  return ((config.vision_config ?? config) as { num_channels?: number }).num_channels === 1 ? 1 : 3;
}
