// Reads the parameters of Whisper's and of wav2vec 2.0's preprocessor_config.json. Options that would change the result
// and are not supported are rejected by name.

import { ClearformerError, textOf } from '../support/error.js';

/** The parameters of a WhisperFeatureExtractor, named as in preprocessor_config.json. */
export interface WhisperFeatures {
  /** Mel filters: 80, or 128 in large-v3. */
  feature_size: number;
  /** Hertz. */
  sampling_rate: number;
  /** Samples between the starts of two frames. */
  hop_length: number;
  /** Seconds that audio is truncated or padded to. */
  chunk_length: number;
  /** Samples per frame. */
  n_fft: number;
  padding_value: number;
  /** The default for calls. */
  return_attention_mask: boolean;
}

/** The parameters of a Wav2Vec2FeatureExtractor, named as in preprocessor_config.json. */
export interface Wav2Vec2Features {
  /** Hertz. */
  sampling_rate: number;
  padding_value: number;
  /** Whether samples get mean 0 and variance 1. */
  do_normalize: boolean;
  /** The default for calls. */
  return_attention_mask: boolean;
}

const ofSamples: Wav2Vec2Features = {
  sampling_rate: 16000,
  padding_value: 0,
  do_normalize: true,
  return_attention_mask: false,
};
const ofSpectrograms: WhisperFeatures = {
  feature_size: 80,
  sampling_rate: 16000,
  hop_length: 160,
  chunk_length: 30,
  n_fft: 400,
  padding_value: 0,
  return_attention_mask: false,
};

// An hour of audio, and frames of a few seconds: far above any model's values, and still feasible in memory and time.
const largest = {
  feature_size: 1024,
  sampling_rate: 384_000,
  hop_length: 65_536,
  chunk_length: 3600,
  n_fft: 65_536,
};

// Without influence on the result, or recomputed from the values above, as upstream does.
const inert = [
  'feature_extractor_type',
  'processor_class',
  'auto_map',
  'n_samples',
  'nb_max_frames',
  'mel_filters',
  'return_tensors',
];

/** Supported values of other options: those that describe what is done anyway. */
const harmless: Readonly<Record<string, unknown>> = { padding_side: 'right', dither: 0 };

/** Whether a configuration names or describes what is not Whisper's: another type, or the steps of images. */
export function isNamed(config: Readonly<Record<string, unknown>>): boolean {
  return (config.feature_extractor_type ?? null) !== null || Object.keys(config).some((key) => imageKeys.test(key));
}

const imageKeys = /^(image_|do_(resize|rescale|center_crop)$)/;

/**
 * The parameters of a file, which need not name its type. Throws `unsupported` for another type or an unknown option,
 * `malformed_config` for an invalid value.
 */
export function whisperFeatures(config: Readonly<Record<string, unknown>>, file: string): WhisperFeatures {
  const type = config.feature_extractor_type;
  if (isNamed(config) && type !== 'WhisperFeatureExtractor') {
    const ofSound = 'sampling_rate' in config;
    const known = ofSound
      ? 'known: WhisperFeatureExtractor, Wav2Vec2FeatureExtractor'
      : 'known: WhisperFeatureExtractor, Wav2Vec2FeatureExtractor; for images: AutoImageProcessor';
    throw new ClearformerError(
      'unsupported',
      `${file}: feature_extractor_type ${textOf(type)} is not supported (${known})`,
      {
        option: 'feature_extractor_type',
        file,
        ...(ofSound && { expected: ['WhisperFeatureExtractor', 'Wav2Vec2FeatureExtractor'] }),
      },
    );
  }
  return read(config, file, ofSpectrograms, harmless);
}

/** The same for samples. */
export function wav2vec2Features(config: Readonly<Record<string, unknown>>, file: string): Wav2Vec2Features {
  const type = config.feature_extractor_type ?? samplesType;
  if (type === samplesType) return read(config, file, ofSamples, { ...harmless, feature_size: 1 });
  throw new ClearformerError('unsupported', `${file}: feature_extractor_type ${textOf(type)} is not ${samplesType}`, {
    option: 'feature_extractor_type',
    file,
  });
}

/** The name of wav2vec 2.0's class. */
export const samplesType = 'Wav2Vec2FeatureExtractor';

/** Whether models of this type read samples: others read spectrograms. */
export const readsSamples = (model_type: unknown): boolean => model_type === 'wav2vec2' || model_type === 'hubert';

/** Parameters of a file, where there are none those of `defaults`. */
function read<Features extends object>(
  config: Readonly<Record<string, unknown>>,
  file: string,
  defaults: Features,
  harmless: Readonly<Record<string, unknown>>,
): Features {
  const features = { ...defaults };
  for (const [option, value] of Object.entries(config)) {
    if (value === null || inert.includes(option) || harmless[option] === value) continue;
    if (!Object.hasOwn(defaults, option)) {
      if (value === false) continue;
      throw new ClearformerError(
        'unsupported',
        `${file}: ${option} ${typeof value === 'object' ? '' : textOf(value)} is not supported`,
        { option, file },
      );
    }
    const usual = defaults[option as keyof Features];
    Object.assign(features, { [option]: checked(option as keyof WhisperFeatures, value, typeof usual, file) });
  }
  return features;
}

const mostProducts = 2 ** 22; // of a frame's Fourier transform

/** Products of a Fourier transform: for each element as many as the sum of the length's prime factors. */
function productsOf(length: number): number {
  let [rest, sum] = [length, 0];
  for (let factor = 2; factor * factor <= rest; factor++) {
    for (; rest % factor === 0; rest /= factor) sum += factor;
  }
  return length * (sum + rest);
}

function checked(option: keyof WhisperFeatures, value: unknown, type: string, file: string): number | boolean {
  const refused = (rule: string) =>
    new ClearformerError('malformed_config', `${file}: ${option} must be ${rule}, it is ${textOf(value)}`, {
      option,
      file,
    });
  if (type === 'boolean') {
    if (typeof value === 'boolean') return value;
    throw refused('true or false');
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) throw refused('a number');
  if (option === 'padding_value') return value;
  if (option === 'n_fft' && productsOf(value) > mostProducts) throw refused('a product of small primes');
  const most = largest[option as keyof typeof largest];
  if (!(Number.isInteger(value) && value > 0 && value <= most)) throw refused(`a whole number from 1 to ${most}`);
  return value;
}
