// A model that names what is in an image, with what stands before it; the probabilities of its classes and its attention.

import {
  AutoImageProcessor,
  AutoModelForImageClassification,
  type ImageInput,
  type ImageProcessor,
  type PreTrainedModel,
  type Tensor,
} from 'clearformer';
import { softmax } from '../book/distribution.js';
import type { Loaded, LoadOptions, Source } from './model_host.js';
import { PatchAttention, patchGrid } from './patch_maps.js';

export interface ClassScore {
  label: string;
  score: number;
}

export interface Seen {
  /** In the model's order. */
  classes: ClassScore[];
  /** What the model was given: [1, channel, height, width]. */
  pixels: Tensor<'float32'>;
  attention: PatchAttention | undefined;
  milliseconds: number;
}

type Classifier = Awaited<ReturnType<typeof AutoModelForImageClassification.from_pretrained>>;

export class ImageModel implements Loaded {
  private constructor(
    readonly model: Classifier,
    private readonly processor: ImageProcessor,
    readonly label: string,
  ) {}

  static async load(source: Source, label: string, options: LoadOptions): Promise<ImageModel> {
    const processor = await AutoImageProcessor.from_pretrained(source, { signal: options.signal });
    return new ImageModel(await AutoModelForImageClassification.from_pretrained(source, options), processor, label);
  }

  async see(image: ImageInput, signal?: AbortSignal): Promise<Seen> {
    const begun = performance.now();
    const { pixel_values } = await this.processor(image);
    const { logits, attentions = [] } = await this.model({ pixel_values }, { output_attentions: true, signal });
    const milliseconds = performance.now() - begun;
    const names = labelsOf(this.model);
    const classes = Array.from(softmax(logits.data), (score, i) => ({ label: names[i] ?? `class ${i}`, score }));
    const grid = patchGrid(this.model.config);
    const attention = grid && attentions.length > 0 ? new PatchAttention(attentions, grid) : undefined;
    return { classes, pixels: pixel_values, attention, milliseconds };
  }

  dispose(): Promise<void> {
    return this.model.dispose();
  }
}

function labelsOf({ config }: Pick<PreTrainedModel, 'config'>): Record<number, string> {
  return (config.id2label ?? {}) as Record<number, string>;
}
