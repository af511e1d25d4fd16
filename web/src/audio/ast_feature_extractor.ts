// The feature extraction of audio spectrogram transformers: log-mel filter bank features, computed by the core
// (log_mel_fbank.h).

import { readProcessorConfig } from '../checkpoint/processor_config.js';
import { readSmallFiles } from '../checkpoint/small_files.js';
import type { Source } from '../checkpoint/source.js';
import { run } from '../primitives/shared_core.js';
import type { ArgumentsOf, TensorOut } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { Callable } from '../support/callable.js';
import { textOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import { expectArgument, refusedOption } from '../support/options.js';
import type { OrNull } from '../support/or_null.js';
import { Tensor } from '../tensor/tensor.js';
import type { AudioInput } from './audio_input.js';
import { type FeatureExtractorLoadOptions, soundsOf, stacked } from './feature_extractor_call.js';
import { type ASTFeatures, astFeatures, fbankType } from './feature_extractor_config.js';

/** The inputs of an audio spectrogram transformer. */
export interface ASTFeatureExtractorOutput {
  /** [batch, max_length, num_mel_bins] */
  input_values: Tensor<'float32'>;
}

/** Options of one call. */
export interface ASTFeatureExtractorCallOptions {
  /** The rate of sounds that are given as samples alone, in hertz: none but the model's. */
  sampling_rate?: number | undefined;
  signal?: AbortSignal | undefined;
}

type Compute = (given: ArgumentsOf<'log_mel_fbank'>, signal?: AbortSignal) => Promise<TensorOut<'float32'>>;

const inThisThread: Compute = (given, signal) => run('log_mel_fbank', given, signal);

export interface ASTFeatureExtractor {
  /**
   * input_values of one audio or of several, padded or truncated to `max_length` frames. Audio at another rate than the
   * model's is resampled. Rejects with `invalid_argument` for anything but audio, for audio of fewer than 400 samples (of a
   * batch, too) and another `sampling_rate`, `malformed_file` or `unsupported` for files, `file_not_found` or
   * `network_error` for those that cannot be read, or the abort signal's reason.
   */
  // biome-ignore lint/style/useShorthandFunctionType: a type of this name would not merge with the class
  (
    audio: AudioInput | readonly AudioInput[],
    options?: ASTFeatureExtractorCallOptions,
  ): Promise<ASTFeatureExtractorOutput>;
}

/**
 * The feature extractor of audio spectrogram transformers: call it with one audio or several. Results equal those of
 * transformers without torchaudio within 5e-6; with torchaudio transformers computes in float32, and frames of other
 * lengths for other sampling rates than 16 kHz.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class ASTFeatureExtractor extends Callable<
  [AudioInput | readonly AudioInput[], ASTFeatureExtractorCallOptions?],
  Promise<ASTFeatureExtractorOutput>
> {
  /** The file's contents. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The effective values. */
  readonly features: Readonly<ASTFeatures>;
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
    expectArgument(fbankType, isFile && isObject(config), 'the object of a config file', isFile ? config : file);
    this.config = config;
    this.features = astFeatures(config, file);
  }

  /** Loads it from the source of a model; see AutoFeatureExtractor. */
  static from_pretrained(
    source: Source,
    options: OrNull<FeatureExtractorLoadOptions> = {},
  ): Promise<ASTFeatureExtractor> {
    return readSmallFiles(`${fbankType}.from_pretrained`, source, options, async (folder, reading) => {
      const { config, file } = await readProcessorConfig(folder, 'feature_extractor', reading);
      return new ASTFeatureExtractor(config, file);
    });
  }

  /** @internal A copy that computes on a model's engine, to keep long work out of this thread. */
  on(engine: Engine): ASTFeatureExtractor {
    const moved = new ASTFeatureExtractor(this.config);
    moved.#compute = (given, signal) => engine.call('log_mel_fbank', given, signal);
    return moved;
  }

  /** @internal */
  override async _call(
    audio: AudioInput | readonly AudioInput[],
    options: ASTFeatureExtractorCallOptions = {},
  ): Promise<ASTFeatureExtractorOutput> {
    const { sampling_rate, max_length } = this.features;
    const sounds = await soundsOf(audio, sampling_rate, options, ['sampling_rate', 'signal']);
    const given = options.sampling_rate ?? sampling_rate;
    if (given !== sampling_rate) {
      const message = `is ${textOf(given)}, and the model's is ${sampling_rate}: pass { data, sampling_rate }`;
      throw refusedOption('feature extractor', 'sampling_rate', message);
    }
    const rows: Tensor<'float32'>[] = [];
    for (const sound of sounds) {
      const read = sound.slice(0, max_length * hop + frame - hop); // by the frames that are kept
      const samples = { data: read, dims: [read.length] };
      const { data, dims } = await this.#compute({ samples, ...this.features }, options.signal);
      rows.push(new Tensor('float32', data, dims));
    }
    return { input_values: stacked(rows) };
  }
}

/** Samples of a frame, and from one to the next; in the core, too. */
const [frame, hop] = [400, 160];
