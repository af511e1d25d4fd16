// Whisper's feature extraction: log-mel spectrograms, computed by the core (log_mel_spectrogram.h).

import { type ReadOptions, readOptional } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { readProcessorConfig } from '../checkpoint/processor_config.js';
import { readSmallFiles, type SmallFileOptions } from '../checkpoint/small_files.js';
import type { Source } from '../checkpoint/source.js';
import { run } from '../primitives/shared_core.js';
import type { ArgumentsOf, TensorOut } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { Callable } from '../support/callable.js';
import { ClearformerError, textOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import { checkOptions, expectArgument } from '../support/options.js';
import type { OrNull } from '../support/or_null.js';
import { Tensor } from '../tensor/tensor.js';
import { type AudioInput, read_audio } from './audio_input.js';
import { isNamed, type WhisperFeatures, whisperFeatures } from './feature_extractor_config.js';

/** How a feature extractor is loaded: the options of a model that concern files. */
export interface FeatureExtractorLoadOptions extends SmallFileOptions {}

/** Options of one call. */
export interface FeatureExtractorCallOptions {
  /** `max_length` (default) pads to max_length, `longest` to the longest of the batch, `do_not_pad` not at all. */
  padding?: 'max_length' | 'longest' | 'do_not_pad' | undefined;
  /** Truncate what is longer than max_length (default true). */
  truncation?: boolean | undefined;
  /** In samples; default: chunk_length seconds. */
  max_length?: number | undefined;
  /** Mark frames of audio (1) and of padding (0); default: the file's setting. */
  return_attention_mask?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

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
    checkOptions('feature extractor', options, [
      'padding',
      'truncation',
      'max_length',
      'return_attention_mask',
      'signal',
    ]);
    const { feature_size, sampling_rate, hop_length, n_fft, padding_value } = this.features;
    const list = Array.isArray(audio) ? (audio as readonly AudioInput[]) : [audio as AudioInput];
    const { signal } = options;
    const sounds = await Promise.all(list.map((one) => read_audio(one, sampling_rate, { signal })));
    const length = this.#length(sounds, options);
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

  /** The number of samples that each audio of a batch is padded or truncated to. */
  #length(sounds: readonly Float32Array[], options: FeatureExtractorCallOptions): number {
    const { padding = 'max_length', truncation = true } = options;
    const { max_length = this.features.chunk_length * this.features.sampling_rate } = options;
    if (!['max_length', 'longest', 'do_not_pad'].includes(padding)) throw refused('padding', padding);
    if (typeof truncation !== 'boolean') throw refused('truncation', truncation);
    if (!Number.isInteger(max_length) || max_length <= 0) throw refused('max_length', max_length);
    const lengths = sounds.map((sound) => (truncation ? Math.min(sound.length, max_length) : sound.length));
    const longest = Math.max(0, ...lengths);
    if (padding === 'do_not_pad' && lengths.some((length) => length !== longest)) {
      throw new ClearformerError(
        'shape_mismatch',
        `feature extractor: without padding the sounds of a batch must be equally long, they have ${lengths.join(', ')} samples`,
      );
    }
    return padding === 'max_length' ? Math.max(longest, max_length) : longest;
  }
}

function refused(option: string, value: unknown): ClearformerError {
  return new ClearformerError('invalid_argument', `feature extractor: ${option} cannot be ${textOf(value)}`, {
    option,
  });
}

function stacked(spectrograms: readonly Tensor<'float32'>[]): Tensor<'float32'> {
  const [first] = spectrograms;
  if (first === undefined)
    throw new ClearformerError('invalid_argument', 'feature extractor: needs at least one sound');
  const all = new Float32Array(first.size * spectrograms.length);
  spectrograms.forEach(({ data }, i) => {
    all.set(data, i * first.size);
  });
  return new Tensor('float32', all, [spectrograms.length, ...first.dims]);
}

/** 1 for each frame whose centre is within the audio. */
function frameMask(sounds: readonly Float32Array[], frames: number, hop: number): Tensor<'int64'> {
  const mask = new BigInt64Array(sounds.length * frames);
  sounds.forEach((sound, row) => {
    mask.fill(1n, row * frames, row * frames + Math.min(frames, Math.ceil(sound.length / hop)));
  });
  return new Tensor('int64', mask, [sounds.length, frames]);
}

/** Loads the feature extractor of a model. */
export const AutoFeatureExtractor = {
  /**
   * Loads the feature extractor of a model: the member `feature_extractor` of processor_config.json, which transformers
   * 5 writes, or preprocessor_config.json. Only Whisper's is supported; if a file names no type, the model_type in
   * config.json tells it. Rejects with `file_not_found`, `network_error`,
   * `malformed_config`, `unsupported`, `integrity_mismatch`, or the abort signal's reason.
   */
  from_pretrained(source: Source, options: OrNull<FeatureExtractorLoadOptions> = {}): Promise<WhisperFeatureExtractor> {
    return readSmallFiles('AutoFeatureExtractor.from_pretrained', source, options, readFeatureExtractor);
  },
};

/** Reads a file of Whisper's, whatever model is beside it. */
async function readWhisper(folder: Folder, options: ReadOptions): Promise<WhisperFeatureExtractor> {
  const { config, file } = await readProcessorConfig(folder, 'feature_extractor', options);
  return new WhisperFeatureExtractor(config, file);
}

/** Reads a feature extractor from an open folder. A file without a type is of the model_type in config.json. */
export async function readFeatureExtractor(folder: Folder, options: ReadOptions): Promise<WhisperFeatureExtractor> {
  const { config, file } = await readProcessorConfig(folder, 'feature_extractor', options);
  if (isNamed(config)) return new WhisperFeatureExtractor(config, file);
  const { model_type } = JSON.parse((await readOptional(folder, 'config.json', options))?.text ?? '{}');
  if (model_type === 'whisper') return new WhisperFeatureExtractor(config, file);
  throw new ClearformerError(
    'unsupported',
    `${file} names no feature_extractor_type, and config.json's model_type ${textOf(model_type)} does not tell it`,
    { option: 'feature_extractor_type', file },
  );
}
