// Reads the preprocessing steps from a preprocessor_config.json. Options that would change the result and are not
// supported are rejected by name.

import { ClearformerError, type ErrorCode, readable, textOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import type { ImageSize } from './geometry.js';
import { resamplings } from './resampling.js';

/**
 * Options of preprocessor_config.json, for all images or for one call. `null` switches a step off, as in transformers;
 * of an option that a step needs it is refused. Without an option the default of the processor's type holds.
 */
export interface ImageProcessorOptions {
  do_resize?: boolean | null | undefined;
  /** A number is the edge of a square, for CLIP, BiT and SigLIP the shorter edge; a pair is height and width. */
  size?: ImageSize | number | readonly [height: number, width: number] | null | undefined;
  /** PIL's numbers: 0 nearest, 1 Lanczos, 2 bilinear, 3 bicubic, 4 box, 5 Hamming. */
  resample?: number | null | undefined;
  /** Whether a size of one number is a square; default: true, except for CLIP, BiT and SigLIP. */
  default_to_square?: boolean | null | undefined;
  do_center_crop?: boolean | null | undefined;
  crop_size?: ImageSize | number | readonly [height: number, width: number] | null | undefined;
  do_rescale?: boolean | null | undefined;
  rescale_factor?: number | null | undefined;
  do_normalize?: boolean | null | undefined;
  /** One number per channel, or one for all. */
  image_mean?: number | readonly number[] | null | undefined;
  image_std?: number | readonly number[] | null | undefined;
  do_convert_rgb?: boolean | null | undefined;
}

/** The steps, in this order; absent ones are skipped. */
export interface ImageSteps {
  /** Whether images are resized after they are rescaled, as floats, which are not rounded, and centred as torchvision does. */
  asFloats?: true;
  /** Required channels; absent: those of the image, without alpha. */
  channels?: 1 | 3;
  resize?: { size: ImageSize; resample: number };
  crop?: { height: number; width: number };
  rescale?: number;
  /** One number for all channels, or one per channel. */
  normalize?: { mean: number | readonly number[]; std: number | readonly number[] };
}

const standard = { image_mean: [0.5, 0.5, 0.5], image_std: [0.5, 0.5, 0.5] };
const clip = {
  image_mean: [0.48145466, 0.4578275, 0.40821073],
  image_std: [0.26862954, 0.26130258, 0.27577711],
};
const always = {
  do_resize: true,
  default_to_square: true,
  do_rescale: true,
  rescale_factor: 1 / 255,
  do_normalize: true,
};

const cropped = {
  ...always,
  ...clip,
  size: { shortest_edge: 224 },
  resample: 3,
  do_center_crop: true,
  default_to_square: false,
  crop_size: { height: 224, width: 224 },
  do_convert_rgb: true,
};

/** Rescales before it resizes. */
const dinov3 = 'DINOv3ViTImageProcessor';

/** The defaults of each type. */
const defaults: Readonly<Record<string, ImageProcessorOptions>> = {
  ViTImageProcessor: { ...always, ...standard, size: { height: 224, width: 224 }, resample: 2 },
  DeiTImageProcessor: {
    ...always,
    ...standard,
    size: { height: 256, width: 256 },
    resample: 3,
    do_center_crop: true,
    crop_size: { height: 224, width: 224 },
  },
  CLIPImageProcessor: cropped,
  BitImageProcessor: cropped,
  SiglipImageProcessor: {
    ...always,
    ...standard,
    size: { height: 224, width: 224 },
    resample: 3,
    default_to_square: false,
    do_convert_rgb: true,
  },
  [dinov3]: {
    ...always,
    image_mean: [0.485, 0.456, 0.406],
    image_std: [0.229, 0.224, 0.225],
    size: { height: 224, width: 224 },
    resample: 2,
  },
};

/** The supported types. */
const imageProcessorTypes: readonly string[] = Object.keys(defaults);

/** The options that callers and files set. */
export const imageProcessorOptions: readonly (keyof ImageProcessorOptions)[] = [
  'do_resize',
  'size',
  'resample',
  'default_to_square',
  'do_center_crop',
  'crop_size',
  'do_rescale',
  'rescale_factor',
  'do_normalize',
  'image_mean',
  'image_std',
  'do_convert_rgb',
];

// Written by transformers without influence on the result.
const inert = [
  'image_processor_type',
  'feature_extractor_type',
  'processor_class',
  'auto_map',
  'use_fast',
  'backend',
  'device',
  'disable_grouping',
  'return_tensors',
  'image_seq_length',
  '_valid_processor_keys',
  'pad_size', // of do_pad, which is rejected
];

/** The type named by a file, by transformers' current name; undefined if it names none. */
export function imageProcessorType(config: Readonly<Record<string, unknown>>): string | undefined {
  const named = config.image_processor_type ?? config.feature_extractor_type;
  if (named === undefined || named === null) return undefined;
  return textOf(named)
    .replace(/(Fast|Pil)$/, '')
    .replace(/FeatureExtractor$/, 'ImageProcessor');
}

/** Throws `unsupported` for an unknown type and for the first option that is set and unknown. */
export function checkImageProcessorConfig(type: string, config: Readonly<Record<string, unknown>>, file: string): void {
  if (!Object.hasOwn(defaults, type)) {
    throw new ClearformerError(
      'unsupported',
      `${file}: image_processor_type ${type} is not supported (known: ${imageProcessorTypes.join(', ')})`,
      { option: 'image_processor_type', file, expected: imageProcessorTypes },
    );
  }
  for (const [option, value] of Object.entries(config)) {
    const known = [...imageProcessorOptions, ...inert].includes(option);
    if (known || value === null || value === false || harmless[option] === value) continue;
    throw new ClearformerError('unsupported', `${file}: the option '${option}' is not supported`, { option, file });
  }
}

/** Supported values of other options: those that describe what is done anyway. */
const harmless: Readonly<Record<string, unknown>> = {
  data_format: 'channels_first',
  input_data_format: 'channels_last',
};

/** The steps of `options` over the defaults of `type`; errors have code `code` and name `where` and the option. */
export function imageSteps(type: string, options: ImageProcessorOptions, code: ErrorCode, where: string): ImageSteps {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const read = new Reader({ ...defaults[type], ...Object.fromEntries(given) }, code, where);
  const steps: ImageSteps = {};
  const known = type === dinov3 ? [1, 2, 3] : resamplings; // torchvision has no others but nearest, with other ties
  if (read.flag('do_resize')) {
    steps.resize = { size: read.size('size', read.flag('default_to_square')), resample: read.resample(known) };
  }
  if (read.flag('do_center_crop')) steps.crop = read.cropSize();
  if (read.flag('do_rescale')) {
    steps.rescale = read.number('rescale_factor');
    if (type === dinov3) steps.asFloats = true;
  }
  if (read.flag('do_normalize')) steps.normalize = { mean: read.numbers('image_mean'), std: read.numbers('image_std') };
  const { mean } = steps.normalize ?? {};
  if (read.flag('do_convert_rgb')) steps.channels = 3;
  else if (typeof mean === 'object') steps.channels = mean.length === 3 ? 3 : 1;
  return steps;
}

class Reader {
  constructor(
    readonly options: ImageProcessorOptions,
    private readonly code: ErrorCode,
    private readonly where: string,
  ) {}

  flag(option: keyof ImageProcessorOptions): boolean {
    const value = this.options[option] ?? false;
    if (typeof value === 'boolean') return value;
    throw this.#refused(option, 'true or false');
  }

  number(option: keyof ImageProcessorOptions): number {
    const value = this.options[option];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw this.#refused(option, 'a number');
  }

  resample(known: readonly number[]): number {
    const value = this.options.resample as number;
    if (known.includes(value)) return value;
    throw this.#refused('resample', `one of ${known.join(', ')}`);
  }

  numbers(option: 'image_mean' | 'image_std'): number | readonly number[] {
    const value = this.options[option];
    const values = [value].flat();
    const fit = (one: unknown) => Number.isFinite(one) && (option === 'image_mean' || one !== 0);
    if ((values.length === 1 || values.length === 3) && values.every(fit)) return value as number | readonly number[];
    throw this.#refused(option, 'a number or one for each of 1 or 3 channels, of a deviation not 0');
  }

  cropSize(): { height: number; width: number } {
    const size = this.size('crop_size', true);
    if ('height' in size) return size;
    throw this.#refused('crop_size', '{ height, width }');
  }

  size(option: 'size' | 'crop_size', square: boolean): ImageSize {
    const value = this.options[option] as unknown;
    const pair = Array.isArray(value) && value.length === 2 ? { height: value[0], width: value[1] } : value;
    const edge = square ? { height: value, width: value } : { shortest_edge: value };
    const size = typeof value === 'number' ? edge : pair;
    if (isObject(size)) {
      const edges = Object.entries(size).filter(([, length]) => length !== null && length !== undefined);
      const whole = edges.every(
        ([, edge]) => Number.isInteger(edge) && (edge as number) > 0 && (edge as number) <= longest,
      );
      const names = edges.map(([name]) => name).sort();
      if (whole && spellings.includes(names.join())) return Object.fromEntries(edges) as unknown as ImageSize;
    }
    const rule = `an edge from 1 to ${longest}, a pair, or an object such as { height, width }`;
    throw this.#refused(option, rule);
  }

  #refused(option: keyof ImageProcessorOptions, rule: string): ClearformerError {
    const value = this.options[option];
    const shown = typeof value === 'object' ? readable(option, () => JSON.stringify(value)) : textOf(value);
    return new ClearformerError(this.code, `${this.where}: ${option} must be ${rule}, it is ${shown}`, { option });
  }
}

/** The maximum edge of an image in pixels: a square of that size takes 0.8 GB. */
const longest = 8192;

const spellings = [
  'height,width',
  'shortest_edge',
  'longest_edge,shortest_edge',
  'longest_edge',
  'max_height,max_width',
];
