// AutoFeatureExtractor: loads the feature extractor of a model, of whatever kind.

import { type ReadOptions, readOptional } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { readProcessorConfig } from '../checkpoint/processor_config.js';
import { readSmallFiles } from '../checkpoint/small_files.js';
import type { Source } from '../checkpoint/source.js';
import { ClearformerError, textOf } from '../support/error.js';
import type { OrNull } from '../support/or_null.js';
import { ASTFeatureExtractor } from './ast_feature_extractor.js';
import { WhisperFeatureExtractor } from './feature_extractor.js';
import type { FeatureExtractorLoadOptions } from './feature_extractor_call.js';
import { fbankType, isNamed, readsSamples, samplesType } from './feature_extractor_config.js';
import { Wav2Vec2FeatureExtractor } from './wav2vec2_feature_extractor.js';

/** A feature extractor of any kind. */
export type FeatureExtractor = WhisperFeatureExtractor | Wav2Vec2FeatureExtractor | ASTFeatureExtractor;

/** Loads the feature extractor of a model. */
export const AutoFeatureExtractor = {
  /**
   * Loads the feature extractor of a model: the member `feature_extractor` of processor_config.json, which transformers
   * 5 writes, or preprocessor_config.json. Those of Whisper, of wav2vec 2.0 and of AST are supported; if a file names no
   * type, the model_type in config.json tells it. Rejects with `file_not_found`, `network_error`,
   * `malformed_config`, `unsupported`, `integrity_mismatch`, or the abort signal's reason.
   */
  from_pretrained<Kind extends FeatureExtractor = WhisperFeatureExtractor>(
    source: Source,
    options: OrNull<FeatureExtractorLoadOptions> = {},
  ): Promise<Kind> {
    const reading = readSmallFiles('AutoFeatureExtractor.from_pretrained', source, options, readFeatureExtractor);
    return reading as Promise<Kind>;
  },
};

/** Reads a feature extractor from an open folder. A file without a type is of the model_type in config.json. */
export async function readFeatureExtractor(folder: Folder, options: ReadOptions): Promise<FeatureExtractor> {
  const { config, file } = await readProcessorConfig(folder, 'feature_extractor', options);
  if (config.feature_extractor_type === samplesType) return new Wav2Vec2FeatureExtractor(config, file);
  if (config.feature_extractor_type === fbankType) return new ASTFeatureExtractor(config, file);
  if (isNamed(config)) return new WhisperFeatureExtractor(config, file);
  const { model_type } = JSON.parse((await readOptional(folder, 'config.json', options))?.text ?? '{}');
  if (model_type === 'whisper') return new WhisperFeatureExtractor(config, file);
  if (model_type === 'audio-spectrogram-transformer') return new ASTFeatureExtractor(config, file);
  if (readsSamples(model_type)) return new Wav2Vec2FeatureExtractor(config, file);
  throw new ClearformerError(
    'unsupported',
    `${file} names no feature_extractor_type, and config.json's model_type ${textOf(model_type)} does not tell it`,
    { option: 'feature_extractor_type', file },
  );
}
