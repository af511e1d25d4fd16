// wav2vec 2.0's feature extraction: samples, normalised to mean 0 and variance 1.

import { readProcessorConfig } from '../checkpoint/processor_config.js';
import { readSmallFiles } from '../checkpoint/small_files.js';
import type { Source } from '../checkpoint/source.js';
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
  noSound,
  soundsOf,
} from './feature_extractor_call.js';
import { samplesType, type Wav2Vec2Features, wav2vec2Features } from './feature_extractor_config.js';

/** The inputs of wav2vec 2.0 and HuBERT. */
export interface Wav2Vec2FeatureExtractorOutput {
  /** [batch, samples] */
  input_values: Tensor<'float32'>;
  /** [batch, samples] */
  attention_mask?: Tensor<'int64'>;
}

const smallest = 1e-7; // is added to a variance

export interface Wav2Vec2FeatureExtractor {
  /**
   * input_values of one audio or of several. Audio at another rate than the model's is resampled. By default nothing is
   * padded: sounds of a batch that differ in length need `padding`. Rejects as WhisperFeatureExtractor does.
   */
  // biome-ignore lint/style/useShorthandFunctionType: a type of this name would not merge with the class
  (
    audio: AudioInput | readonly AudioInput[],
    options?: FeatureExtractorCallOptions,
  ): Promise<Wav2Vec2FeatureExtractorOutput>;
}

/** wav2vec 2.0's and HuBERT's feature extractor: call it with one audio or several. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class Wav2Vec2FeatureExtractor extends Callable<
  [AudioInput | readonly AudioInput[], FeatureExtractorCallOptions?],
  Promise<Wav2Vec2FeatureExtractorOutput>
> {
  /** The file's contents. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The effective values. */
  readonly features: Readonly<Wav2Vec2Features>;
  /** This, as in transformers.js, where a pipeline's `processor` has it as a part. */
  get feature_extractor(): this {
    return this;
  }

  /**
   * From the contents of a preprocessor_config.json; errors name it `file`. Throws `unsupported` for another
   * feature_extractor_type and for unknown options, `malformed_config` for invalid values.
   */
  constructor(config: Readonly<Record<string, unknown>>, file = 'preprocessor_config.json') {
    super();
    const isFile = typeof file === 'string';
    expectArgument(samplesType, isFile && isObject(config), 'the object of a config file', isFile ? config : file);
    this.config = config;
    this.features = wav2vec2Features(config, file);
  }

  /** Loads it from the source of a model; see AutoFeatureExtractor. */
  static from_pretrained(
    source: Source,
    options: OrNull<FeatureExtractorLoadOptions> = {},
  ): Promise<Wav2Vec2FeatureExtractor> {
    return readSmallFiles(`${samplesType}.from_pretrained`, source, options, async (folder, reading) => {
      const { config, file } = await readProcessorConfig(folder, 'feature_extractor', reading);
      return new Wav2Vec2FeatureExtractor(config, file);
    });
  }

  /** @internal */
  override async _call(
    audio: AudioInput | readonly AudioInput[],
    options: FeatureExtractorCallOptions = {},
  ): Promise<Wav2Vec2FeatureExtractorOutput> {
    const { sampling_rate, padding_value, do_normalize } = this.features;
    const sounds = await soundsOf(audio, sampling_rate, options);
    const { padding = 'do_not_pad', truncation = false, max_length } = options;
    const { return_attention_mask: masked = this.features.return_attention_mask } = options;
    const { kept, length } = lengthsOf(sounds, padding, truncation, max_length);
    const dims = [sounds.length, length];
    const values = new Float32Array(sounds.length * length).fill(padding_value);
    if (values.length === 0) throw noSound();
    const mask = new BigInt64Array(values.length);
    sounds.forEach((sound, row) => {
      const [start, count] = [row * length, kept[row] as number];
      values.set(sound.subarray(0, count), start);
      mask.fill(1n, start, start + count);
      // As in transformers, what is padded counts where no mask says that it is.
      if (do_normalize) normalize(values.subarray(start, start + (masked ? count : length)));
    });
    const input_values = new Tensor('float32', values, dims);
    return masked ? { input_values, attention_mask: new Tensor('int64', mask, dims) } : { input_values };
  }
}

/** To mean 0 and variance 1, in place. */
function normalize(samples: Float32Array): void {
  let [sum, squares] = [0, 0];
  for (const sample of samples) sum += sample;
  const mean = sum / samples.length;
  for (const sample of samples) squares += (sample - mean) ** 2;
  const scale = Math.sqrt(squares / samples.length + smallest);
  for (let i = 0; i < samples.length; i++) samples[i] = ((samples[i] as number) - mean) / scale;
}
