// sentence-similarity: the cosine similarity of sentences to a source sentence.

import { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
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

/** The sentences to compare. */
export interface SentencePairs {
  readonly source_sentence: string;
  readonly sentences: readonly string[];
}

/** Options of a call: those of feature-extraction. `pooling` defaults to `mean` if modules.json does not set it. */
export interface SentenceSimilarityOptions
  extends Omit<FeatureExtractionOptions, 'normalize' | 'quantize' | 'precision'> {}

/** Cosine similarities of sentences. */
export interface SentenceSimilarityPipeline {
  /**
   * The cosine similarity of each sentence's embedding to that of the source sentence, in order. Rejects
   * like feature-extraction.
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
    checkOptions(this.task, inputs, ['source_sentence', 'sentences']);
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
