// audio-classification: the classes of a sound.

import { ASTFeatureExtractor } from '../audio/ast_feature_extractor.js';
import type { AudioInput } from '../audio/audio_input.js';
import { type FeatureExtractor, readFeatureExtractor } from '../audio/auto_feature_extractor.js';
import { WhisperFeatureExtractor } from '../audio/feature_extractor.js';
import type { Wav2Vec2FeatureExtractor } from '../audio/wav2vec2_feature_extractor.js';
import { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { type LogitsModel, Pipeline } from './base_pipeline.js';
import { loader } from './load_pipeline.js';
import {
  type ClassificationOptions,
  checkClassification,
  checkCount,
  classesOf,
  type LabelScore,
  rowOf,
} from './scores.js';
import { type CallOptions, callOptions, inBatches } from './texts.js';

/**
 * Options of a call. `top_k` is 5 and `function_to_apply` softmax by default, as in transformers. `batch_size` has no
 * effect: sounds are read one by one, so that none is padded.
 */
export interface AudioClassificationOptions extends CallOptions, ClassificationOptions {}

/** Classifies sounds. */
export interface AudioClassificationPipeline {
  /**
   * The best classes of a sound, or of each sound. Rejects like the feature extractor, with `invalid_argument` or
   * `unsupported` for invalid arguments, `disposed`, or the abort signal's reason.
   */
  (audio: AudioInput, options?: AudioClassificationOptions): Promise<LabelScore[]>;
  /** The same for several sounds. */
  (audio: readonly AudioInput[], options?: AudioClassificationOptions): Promise<LabelScore[][]>;
  /** One of both, as the sounds are. */
  (
    audio: AudioInput | readonly AudioInput[],
    options?: AudioClassificationOptions,
  ): Promise<LabelScore[] | LabelScore[][]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class AudioClassificationPipeline extends Pipeline<
  [AudioInput | readonly AudioInput[], AudioClassificationOptions?],
  LabelScore[] | LabelScore[][],
  LogitsModel
> {
  readonly processor: Wav2Vec2FeatureExtractor | ASTFeatureExtractor;

  /** @internal */
  constructor(task: string, model: LogitsModel, extractor: FeatureExtractor) {
    super(task, model);
    const spectrograms = model.cfg.model_type === 'audio-spectrogram-transformer';
    if (extractor instanceof WhisperFeatureExtractor || extractor instanceof ASTFeatureExtractor !== spectrograms) {
      const message = `${task}: the feature extractor of the folder is not of the model's kind`;
      throw new ClearformerError('unsupported', message, { option: 'feature_extractor_type' });
    }
    this.processor = extractor instanceof ASTFeatureExtractor ? extractor.on(model.open().engine) : extractor;
  }

  /** @internal */
  override async _call(
    audio: AudioInput | readonly AudioInput[],
    options: AudioClassificationOptions = {},
  ): Promise<LabelScore[] | LabelScore[][]> {
    checkOptions(this.task, options, [...callOptions, 'top_k', 'function_to_apply']);
    checkClassification(options);
    const { top_k = 5, function_to_apply: apply = 'softmax', batch_size = 1, signal } = options;
    checkCount('batch_size', batch_size);
    const list = Array.isArray(audio) ? (audio as readonly AudioInput[]) : [audio as AudioInput];
    const results = await inBatches(list, { batch_size: 1, signal }, async ([one]) => {
      const { logits } = await this.model(await this.processor(one as AudioInput, { signal }), { signal });
      return [classesOf(rowOf(logits, 0), this.model.config, { top_k, apply })];
    });
    return Array.isArray(audio) ? results : (results[0] as LabelScore[]);
  }
}

/** @internal */
export const load = loader<LogitsModel, FeatureExtractor, AudioClassificationPipeline>({
  Model: PreTrainedModel,
  read: readFeatureExtractor,
  create: (task, model, extractor) => new AudioClassificationPipeline(task, model, extractor),
});
