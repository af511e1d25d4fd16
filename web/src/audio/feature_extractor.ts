// Whisper's feature extraction: log-mel spectrograms, computed by the core (log_mel_spectrogram.h).

import type { ReadOptions } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { readProcessorConfig } from '../checkpoint/processor_config.js';
import { readSmallFiles } from '../checkpoint/small_files.js';
import type { Source } from '../checkpoint/source.js';
import { run } from '../primitives/shared_core.js';
import type { ArgumentsOf, TensorOut } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { Callable } from '../support/callable.js';
import { isObject } from '../support/kinds.js';
import { expectArgument } from '../support/options.js';
import type { OrNull } from '../support/or_null.js';
import { Tensor } from '../tensor/tensor.js';
import type { AudioInput } from './audio_input.js';
import {
  type FeatureExtractorCallOptions,
  type FeatureExtractorLoadOptions,
  lengthsOf,
  soundsOf,
  stacked,
} from './feature_extractor_call.js';
import { type WhisperFeatures, whisperFeatures } from './feature_extractor_config.js';

/** The inputs of Whisper's encoder. */
export interface FeatureExtractorOutput {
  /** [batch, feature_size, frames] */
  input_features: Tensor<'float32'>;
  /** [batch, frames] */
  attention_mask?: Tensor<'int64'>;
}

type Compute = (given: ArgumentsOf<'log_mel_spectrogram'>, signal?: AbortSignal) => Promise<TensorOut<'float32'>>;

const inThisThread: Compute = (given, signal) => run('log_mel_spectrogram', given, signal);

export interface WhisperFeatureExtractor {
  /**
   * input_features of one audio or of several. Audio at another rate than the model's is resampled. Rejects with
   * `invalid_argument` for anything but audio and for audio that is too short, `malformed_file` or `unsupported` for
   * files, `file_not_found` or `network_error` for those that cannot be read, `shape_mismatch` if the unpadded audio
   * of a batch differs in length, or the abort signal's reason.
   */
  // biome-ignore lint/style/useShorthandFunctionType: a type of this name would not merge with the class
  (audio: AudioInput | readonly AudioInput[], options?: FeatureExtractorCallOptions): Promise<FeatureExtractorOutput>;
}

/**
 * Whisper's feature extractor: call it with one audio or several. Results equal transformers' float64 path within 1e-6.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class WhisperFeatureExtractor extends Callable<
  [AudioInput | readonly AudioInput[], FeatureExtractorCallOptions?],
  Promise<FeatureExtractorOutput>
> {
  /** The file's contents. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The effective values. */
  readonly features: Readonly<WhisperFeatures>;
  /** This, as in transformers.js, where a pipeline's `processor` has it as a part. */
  get feature_extractor(): this {
    return this;
  }
  #compute: Compute = inThisThread;

  /**
   * From the contents of a preprocessor_config.json; errors name it `file`. Throws `unsupported` for another
   * feature_extractor_type and for unknown options, `malformed_config` for invalid values.
   */
  constructor(config: Readonly<Record<string, unknown>>, file = 'preprocessor_config.json') {
    super();
    const isFile = typeof file === 'string';
    expectArgument(
      'WhisperFeatureExtractor',
      isFile && isObject(config),
      'the object of a config file',
      isFile ? config : file,
    );
    this.config = config;
    this.features = whisperFeatures(config, file);
  }

  /** Loads it from the source of a model; see AutoFeatureExtractor. */
  static from_pretrained(
    source: Source,
    options: OrNull<FeatureExtractorLoadOptions> = {},
  ): Promise<WhisperFeatureExtractor> {
    return readSmallFiles('WhisperFeatureExtractor.from_pretrained', source, options, readWhisper);
  }

  /** @internal A copy that computes on a model's engine, to keep long work out of this thread. */
  on(engine: Engine): WhisperFeatureExtractor {
    const moved = new WhisperFeatureExtractor(this.config);
    moved.#compute = (given, signal) => engine.call('log_mel_spectrogram', given, signal);
    return moved;
  }

  /** @internal */
  override async _call(
    audio: AudioInput | readonly AudioInput[],
    options: FeatureExtractorCallOptions = {},
  ): Promise<FeatureExtractorOutput> {
    const { feature_size, sampling_rate, hop_length, n_fft, padding_value, chunk_length } = this.features;
    const { signal, padding = 'max_length', truncation = true, max_length = chunk_length * sampling_rate } = options;
    const sounds = await soundsOf(audio, sampling_rate, options);
    const { length } = lengthsOf(sounds, padding, truncation, max_length);
    const spectrograms: Tensor<'float32'>[] = [];
    for (const data of sounds) {
      const kept = data.length > length ? data.slice(0, length) : data;
      const samples = { data: kept, dims: [kept.length] };
      const given = { samples, feature_size, sampling_rate, hop_length, n_fft, padding_value, num_samples: length };
      const { data: values, dims } = await this.#compute(given, signal);
      spectrograms.push(new Tensor('float32', values, dims));
    }
    const input_features = stacked(spectrograms);
    if (!(options.return_attention_mask ?? this.features.return_attention_mask)) return { input_features };
    const frames = input_features.dims[2] as number;
    return { input_features, attention_mask: frameMask(sounds, frames, hop_length) };
  }
}

/** 1 for each frame whose centre is within the audio. */
function frameMask(sounds: readonly Float32Array[], frames: number, hop: number): Tensor<'int64'> {
  const mask = new BigInt64Array(sounds.length * frames);
  sounds.forEach((sound, row) => {
    mask.fill(1n, row * frames, row * frames + Math.min(frames, Math.ceil(sound.length / hop)));
  });
  return new Tensor('int64', mask, [sounds.length, frames]);
}

/** Reads a file of Whisper's, whatever model is beside it. */
async function readWhisper(folder: Folder, options: ReadOptions): Promise<WhisperFeatureExtractor> {
  const { config, file } = await readProcessorConfig(folder, 'feature_extractor', options);
  return new WhisperFeatureExtractor(config, file);
}
