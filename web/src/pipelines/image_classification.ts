// image-classification: the classes of an image.

import type { ImageInput } from '../image/image_input.js';
import { type ImageProcessor, readImageProcessor } from '../image/image_processor.js';
import { PreTrainedModel } from '../models/pre_trained_model.js';
import { checkOptions } from '../support/options.js';
import { type LogitsModel, Pipeline } from './base_pipeline.js';
import { imageList, pixelsOf } from './images.js';
import { loader } from './load_pipeline.js';
import {
  type ClassificationOptions,
  checkClassification,
  classesOf,
  type LabelScore,
  rowOf,
  usualFunction,
} from './scores.js';
import { type CallOptions, callOptions, inBatches } from './texts.js';

/** Options of a call. `top_k` is 5 by default; `regression` as problem_type counts as none, as in transformers. */
export interface ImageClassificationOptions extends CallOptions, ClassificationOptions {}

/** Classifies images. */
export interface ImageClassificationPipeline {
  /**
   * The best classes of an image, or of each image. Rejects with `invalid_argument` or `unsupported` for invalid
   * arguments, `disposed`, or the abort signal's reason.
   */
  (image: ImageInput, options?: ImageClassificationOptions): Promise<LabelScore[]>;
  /** The same for several images. */
  (images: readonly ImageInput[], options?: ImageClassificationOptions): Promise<LabelScore[][]>;
  /** One of both, as the images are. */
  (
    images: ImageInput | readonly ImageInput[],
    options?: ImageClassificationOptions,
  ): Promise<LabelScore[] | LabelScore[][]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class ImageClassificationPipeline extends Pipeline<
  [ImageInput | readonly ImageInput[], ImageClassificationOptions?],
  LabelScore[] | LabelScore[][],
  LogitsModel
> {
  readonly processor: ImageProcessor;

  /** @internal */
  constructor(task: string, model: LogitsModel, processor: ImageProcessor) {
    super(task, model);
    this.processor = processor;
  }

  /** @internal */
  override async _call(
    images: ImageInput | readonly ImageInput[],
    options: ImageClassificationOptions = {},
  ): Promise<LabelScore[] | LabelScore[][]> {
    checkOptions(this.task, options, [...callOptions, 'top_k', 'function_to_apply']);
    checkClassification(options);
    const { top_k = 5, signal } = options;
    const results = await inBatches(imageList(images), options, async (part) => {
      const { config } = this.model;
      const { logits } = await this.model(await pixelsOf(this, part, signal), { signal });
      const known = config.problem_type === 'regression' ? {} : config;
      const apply = options.function_to_apply ?? usualFunction(known, logits.dims[1] ?? 0);
      return part.map((_, row) => classesOf(rowOf(logits, row), config, { top_k, apply }));
    });
    return Array.isArray(images) ? results : (results[0] as LabelScore[]);
  }
}

/** @internal */
export const load = loader<LogitsModel, ImageProcessor, ImageClassificationPipeline>({
  Model: PreTrainedModel,
  read: readImageProcessor,
  create: (task, model, processor) => new ImageClassificationPipeline(task, model, processor),
});
