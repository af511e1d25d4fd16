// zero-shot-image-classification: which of some labels, given as text, fits an image best.

import type { ReadOptions } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import type { ImageInput } from '../image/image_input.js';
import { type ImageProcessor, readImageProcessor } from '../image/image_processor.js';
import { PreTrainedModel } from '../models/pre_trained_model.js';
import { textOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { needed, Pipeline } from './base_pipeline.js';
import { imageList, pixelsOf } from './images.js';
import { loader } from './load_pipeline.js';
import { type LabelScore, rowOf, sentencesOf, sigmoid, softmax, topIndices } from './scores.js';
import { checkTexts } from './text_pairs.js';
import { type CallOptions, callOptions, inBatches, modelInputs, tokenizing } from './texts.js';

/** Options of a call. */
export interface ZeroShotImageClassificationOptions extends CallOptions {
  /** The text template; {} is replaced by the label, {{ by a brace. Default, as in Python: `This is a photo of {}.` */
  hypothesis_template?: string | undefined;
}

/** Classifies images by custom labels. */
export interface ZeroShotImageClassificationPipeline {
  /**
   * All labels with their probabilities for an image (SigLIP: each label's own, which do not sum to 1), or for each
   * image, the most probable first. Rejects with `invalid_argument` or `unsupported` for invalid arguments, `disposed`,
   * or the abort signal's reason.
   */
  (
    image: ImageInput,
    candidate_labels: readonly string[],
    options?: ZeroShotImageClassificationOptions,
  ): Promise<LabelScore[]>;
  /** The same for several images. */
  (
    images: readonly ImageInput[],
    candidate_labels: readonly string[],
    options?: ZeroShotImageClassificationOptions,
  ): Promise<LabelScore[][]>;
  /** One of both, as the images are. */
  (
    images: ImageInput | readonly ImageInput[],
    candidate_labels: readonly string[],
    options?: ZeroShotImageClassificationOptions,
  ): Promise<LabelScore[] | LabelScore[][]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class ZeroShotImageClassificationPipeline extends Pipeline<
  [ImageInput | readonly ImageInput[], readonly string[], ZeroShotImageClassificationOptions?],
  LabelScore[] | LabelScore[][],
  PreTrainedModel
> {
  readonly tokenizer: PreTrainedTokenizer;
  readonly processor: ImageProcessor;

  /** @internal */
  constructor(task: string, model: PreTrainedModel, { tokenizer, processor }: Beside) {
    super(task, model);
    this.tokenizer = tokenizer;
    this.processor = processor;
  }

  /** @internal */
  override async _call(
    images: ImageInput | readonly ImageInput[],
    candidate_labels: readonly string[],
    options: ZeroShotImageClassificationOptions = {},
  ): Promise<LabelScore[] | LabelScore[][]> {
    checkOptions(this.task, options, [...callOptions, 'hypothesis_template']);
    const { hypothesis_template: template = 'This is a photo of {}.', signal } = options;
    checkTexts(this.task, 'candidate_labels', candidate_labels);
    const texts = sentencesOf(this.task, candidate_labels, template);
    const { model, tokenizer } = this;
    // SigLIP's texts all have its training's length, and each label a probability of its own.
    const single = /siglip/.test(textOf(model.config.model_type));
    const usual = tokenizing(tokenizer, { signal });
    const encoded = await tokenizer.paced(
      texts,
      single ? { ...usual, padding: 'max_length', max_length: 64, truncation: true } : usual,
    );
    const { input_ids, attention_mask: mask } = modelInputs(encoded);
    const attention_mask = tokenizer.model_input_names.includes('attention_mask') ? mask : undefined;
    const results = await inBatches(imageList(images), options, async (part) => {
      const { pixel_values } = await pixelsOf(this, part, signal);
      const { logits_per_image } = await model({ input_ids, attention_mask, pixel_values }, { signal });
      const logits = needed(logits_per_image, this.task, 'logits_per_image');
      return part.map((_, row) => {
        const scores = single ? sigmoid(rowOf(logits, row)) : softmax(rowOf(logits, row));
        return topIndices(scores, null).map((i) => ({
          label: candidate_labels[i] as string,
          score: scores[i] as number,
        }));
      });
    });
    return Array.isArray(images) ? results : (results[0] as LabelScore[]);
  }
}

interface Beside {
  tokenizer: PreTrainedTokenizer;
  processor: ImageProcessor;
}

async function read(folder: Folder, options: ReadOptions): Promise<Beside> {
  const [tokenizer, processor] = await Promise.all([
    readTokenizer(folder, options),
    readImageProcessor(folder, options),
  ]);
  return { tokenizer, processor };
}

/** @internal */
export const load = loader<PreTrainedModel, Beside, ZeroShotImageClassificationPipeline>({
  Model: PreTrainedModel,
  read,
  create: (task, model, beside) => new ZeroShotImageClassificationPipeline(task, model, beside),
});
