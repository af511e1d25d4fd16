// sentence-similarity: how close sentences are to one sentence, as the cosine of their embeddings.

import { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';
import { Pipeline } from './base_pipeline.js';
import {
  type BesideEmbedding,
  type FeatureExtractionOptions,
  FeatureExtractionPipeline,
  readEmbedding,
} from './feature_extraction.js';
import { loader } from './load_pipeline.js';
import { rowOf } from './scores.js';
import { checkTexts } from './text_pairs.js';

/** What is compared. */
export interface SentencePairs {
  readonly source_sentence: string;
  readonly sentences: readonly string[];
}

/** Options of a call: those of feature-extraction. `pooling` is `mean` where neither a call nor modules.json says. */
export interface SentenceSimilarityOptions
  extends Omit<FeatureExtractionOptions, 'normalize' | 'quantize' | 'precision'> {}

/** Sentences to cosines. */
export interface SentenceSimilarityPipeline {
  /**
   * The cosine of each sentence's embedding and that of the source sentence, in their order: 1 is the same direction. Rejects
   * as feature-extraction does.
   */
  // biome-ignore lint/style/useShorthandFunctionType: it must merge with the class
  (inputs: SentencePairs, options?: SentenceSimilarityOptions): Promise<number[]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class SentenceSimilarityPipeline extends Pipeline<
  [SentencePairs, SentenceSimilarityOptions?],
  number[],
  PreTrainedModel
> {
  readonly #embed: FeatureExtractionPipeline;

  /** @internal */
  constructor(embed: FeatureExtractionPipeline) {
    super(embed.task, embed.model);
    this.#embed = embed;
  }

  get tokenizer(): FeatureExtractionPipeline['tokenizer'] {
    return this.#embed.tokenizer;
  }

  /** @internal */
  override async _call(inputs: SentencePairs, options: SentenceSimilarityOptions = {}): Promise<number[]> {
    const { source_sentence, sentences } = inputs ?? {};
    if (typeof source_sentence !== 'string') {
      throw new ClearformerError(
        'invalid_argument',
        `${this.task}: needs { source_sentence, sentences }, a text and an array of texts`,
        { option: 'source_sentence' },
      );
    }
    checkTexts(this.task, 'sentences', sentences);
    const vectors = await this.#embed.unitVectors([source_sentence, ...sentences], options);
    const source = rowOf(vectors, 0);
    return sentences.map((_, i) => rowOf(vectors, i + 1).reduce((sum, x, at) => sum + x * (source[at] as number), 0));
  }
}

/** @internal */
export const load = loader<PreTrainedModel, BesideEmbedding, SentenceSimilarityPipeline>({
  Model: PreTrainedModel,
  read: readEmbedding,
  create: (task, model, beside) => new SentenceSimilarityPipeline(new FeatureExtractionPipeline(task, model, beside)),
});
