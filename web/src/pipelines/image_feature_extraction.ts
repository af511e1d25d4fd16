// image-feature-extraction: an embedding of each patch, or of the whole image.

import type { ImageInput } from '../image/image_input.js';
import { type ImageProcessor, readImageProcessor } from '../image/image_processor.js';
import { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import type { Tensor } from '../tensor/tensor.js';
import { needed, Pipeline } from './base_pipeline.js';
import { imageList, pixelsOf } from './images.js';
import { joinedRows } from './joined_rows.js';
import { loader } from './load_pipeline.js';
import { type CallOptions, callOptions, inBatches } from './texts.js';

/** Options of a call. */
export interface ImageFeatureExtractionOptions extends CallOptions {
  /** The pooler's vector of each image instead of one per position. Default false. */
  pool?: boolean | undefined;
}

/** Image embeddings. */
export interface ImageFeatureExtractionPipeline {
  /**
   * [image, position, d_model], or with `pool` [image, d_model]; for CLIP [image, embedding], without `pool` of unit
   * length. One image is a batch of one. Rejects with `unsupported` if the model has no pooler, `invalid_argument` or
   * `unsupported` for invalid arguments, `disposed`, or the abort signal's reason.
   */
  // biome-ignore lint/style/useShorthandFunctionType: it must merge with the class
  (images: ImageInput | readonly ImageInput[], options?: ImageFeatureExtractionOptions): Promise<Tensor<'float32'>>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class ImageFeatureExtractionPipeline extends Pipeline<
  [ImageInput | readonly ImageInput[], ImageFeatureExtractionOptions?],
  Tensor<'float32'>,
  PreTrainedModel
> {
  readonly processor: ImageProcessor;

  /** @internal */
  constructor(task: string, model: PreTrainedModel, processor: ImageProcessor) {
    super(task, model);
    this.processor = processor;
  }

  /** @internal */
  override async _call(
    images: ImageInput | readonly ImageInput[],
    options: ImageFeatureExtractionOptions = {},
  ): Promise<Tensor<'float32'>> {
    checkOptions(this.task, options, [...callOptions, 'pool']);
    const { pool = false, signal } = options;
    const list = imageList(images);
    if (list.length === 0) throw new ClearformerError('invalid_argument', `${this.task}: needs at least one image`);
    const parts = await inBatches(list, options, async (part) => {
      const output = await this.model(await pixelsOf(this, part, signal), { signal });
      const { image_embeds, vision_model_output: tower = output } = output;
      if (pool) return [needed(tower.pooler_output, this.task, 'pooler_output')];
      return [needed(image_embeds ?? tower.last_hidden_state, this.task, 'last_hidden_state')];
    });
    return joinedRows(parts);
  }
}

/** @internal */
export const load = loader<PreTrainedModel, ImageProcessor, ImageFeatureExtractionPipeline>({
  Model: PreTrainedModel,
  read: readImageProcessor,
  create: (task, model, processor) => new ImageFeatureExtractionPipeline(task, model, processor),
});
