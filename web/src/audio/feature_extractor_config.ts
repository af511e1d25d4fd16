// Reads the parameters of Whisper's, of wav2vec 2.0's and of AST's preprocessor_config.json. Options that would change the
// result and are not supported are rejected by name.

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

/** The parameters of an ASTFeatureExtractor, named as in preprocessor_config.json. */
export interface ASTFeatures {
  /** Mel filters. */
  num_mel_bins: number;
  /** Hertz. */
  sampling_rate: number;
  /** Frames that sounds are truncated or padded to. */
  max_length: number;
  /** Whether `mean` is subtracted from logarithms, which are then divided by 2 · `std`. */
  do_normalize: boolean;
  mean: number;
  std: number;
}

const ofFbank: ASTFeatures = {
  num_mel_bins: 128,
  sampling_rate: 16000,
  max_length: 1024,
  do_normalize: true,
  mean: -4.2677393,
  std: 4.5689974,
};
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
const largest: Readonly<Record<string, number>> = {
  feature_size: 1024,
  num_mel_bins: 1024,
  max_length: 360_000,
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

// What AST's extractor has and does not read: it always pads with zeros, at the end, and makes no mask.
const inertOfFbank = ['feature_size', 'padding_value', 'padding_side', 'return_attention_mask', 'window'];

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
    const expected = ['WhisperFeatureExtractor', samplesType, fbankType];
    const known = `known: ${expected.join(', ')}${ofSound ? '' : '; for images: AutoImageProcessor'}`;
    throw new ClearformerError(
      'unsupported',
      `${file}: feature_extractor_type ${textOf(type)} is not supported (${known})`,
      { option: 'feature_extractor_type', file, ...(ofSound && { expected }) },
    );
  }
  return read(config, file, ofSpectrograms, harmless);
}

/** The same for samples. */
export function wav2vec2Features(config: Readonly<Record<string, unknown>>, file: string): Wav2Vec2Features {
  requireType(config, file, samplesType);
  return read(config, file, ofSamples, { ...harmless, feature_size: 1 });
}

/** The same for filter bank features. */
export function astFeatures(config: Readonly<Record<string, unknown>>, file: string): ASTFeatures {
  requireType(config, file, fbankType);
  const given = Object.entries(config).filter(([option]) => !inertOfFbank.includes(option));
  const features = read(Object.fromEntries(given), file, ofFbank, harmless);
  // Filters lie between 20 Hz and half the rate, a whole number there.
  if (features.sampling_rate < 42) throw malformed(file, 'sampling_rate', 'at least 42', features.sampling_rate);
  if (Math.fround(features.std) === 0) throw malformed(file, 'std', 'a number other than 0', features.std);
  return features;
}

function requireType({ feature_extractor_type: type }: Readonly<Record<string, unknown>>, file: string, own: string) {
  if ((type ?? own) === own) return;
  throw new ClearformerError('unsupported', `${file}: feature_extractor_type ${textOf(type)} is not ${own}`, {
    option: 'feature_extractor_type',
    file,
  });
}

/** The name of wav2vec 2.0's class. */
export const samplesType = 'Wav2Vec2FeatureExtractor';
/** The name of AST's class. */
export const fbankType = 'ASTFeatureExtractor';

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
    Object.assign(features, { [option]: checked(option, value, typeof usual, file) });
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

const malformed = (file: string, option: string, rule: string, value: unknown): ClearformerError =>
  new ClearformerError('malformed_config', `${file}: ${option} must be ${rule}, it is ${textOf(value)}`, {
    option,
    file,
  });

function checked(option: string, value: unknown, type: string, file: string): number | boolean {
  const refused = (rule: string) => malformed(file, option, rule, value);
  if (type === 'boolean') {
    if (typeof value === 'boolean') return value;
    throw refused('true or false');
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) throw refused('a number');
  const most = largest[option];
  if (most === undefined) return value;
  if (option === 'n_fft' && productsOf(value) > mostProducts) throw refused('a product of small primes');
  if (!(Number.isInteger(value) && value > 0 && value <= most)) throw refused(`a whole number from 1 to ${most}`);
  return value;
}
