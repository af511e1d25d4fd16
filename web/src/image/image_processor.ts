// Image preprocessing: resizes, crops, rescales and normalises images for vision models, as in
// preprocessor_config.json.

import { type ReadOptions, readOptional } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { readProcessorConfig } from '../checkpoint/processor_config.js';
import { readSmallFiles, type SmallFileOptions } from '../checkpoint/small_files.js';
import type { Source } from '../checkpoint/source.js';
import { Callable } from '../support/callable.js';
import { ClearformerError, textOf } from '../support/error.js';
import { isA, isObject } from '../support/kinds.js';
import { abortable, checkOptions, expectArgument } from '../support/options.js';
import type { OrNull } from '../support/or_null.js';
import { inSlices, runs, type Steps } from '../support/steps.js';
import { Tensor } from '../tensor/tensor.js';
import { centerCrop, resizedTo } from './geometry.js';
import { type ImageInput, readImage } from './image_input.js';
import {
  checkImageProcessorConfig,
  type ImageProcessorOptions,
  type ImageSteps,
  imageProcessorOptions,
  imageProcessorType,
  imageSteps,
} from './image_processor_config.js';
import { checkSize, type Pixels, withChannels } from './pixels.js';
import { resize, resizeFloats } from './resampling.js';

/** How an image processor is loaded: the options of a model that concern files. */
export interface ImageProcessorLoadOptions extends SmallFileOptions {}

/** Options of one call: those of preprocessor_config.json, overridden for this call. */
export interface ImageProcessorCallOptions extends ImageProcessorOptions {
  /** Channels of the result, if the model needs another number than in the file: 1 grey, 3 RGB. */
  num_channels?: 1 | 3 | undefined;
  signal?: AbortSignal | undefined;
}

/** The inputs of vision models. */
export interface ImageProcessorOutput {
  /** [batch, channel, height, width] */
  pixel_values: Tensor<'float32'>;
}

/**
 * An image processor: call it with one image or several. Results equal transformers' Pillow processors bit for bit
 * (classes whose names end in Pil, its default without torchvision). Its torchvision processors resample with
 * fewer bits and fuse rescaling with normalisation: about one pixel in a hundred differs by one step of 255 (two with
 * Lanczos). DINOv3's has no other: it rescales before it resizes, without rounding to bytes, and so does this (errors: those
 * of float32).
 *
 * Alpha is dropped. If the mean has one channel, colour is converted to grey; if it has three, grey becomes RGB.
 * float32 pixels are interpreted as upstream does: to be resized they must be integers from 0 to 255, or in the range 0
 * to 1, which is scaled by 255 (for DINOv3 any, and all are multiplied by `rescale_factor`).
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class ImageProcessor extends Callable<
  [ImageInput | readonly ImageInput[], ImageProcessorCallOptions?],
  Promise<ImageProcessorOutput>
> {
  /** The type, by transformers' current name, such as `ViTImageProcessor`. */
  readonly image_processor_type: string;
  /** The file's contents. */
  readonly config: Readonly<Record<string, unknown>>;
  /** This, as in transformers.js, where a pipeline's `processor` has it as a part. */
  get image_processor(): this {
    return this;
  }

  /**
   * From the contents of a preprocessor_config.json; errors name it `file`. Throws `unsupported` for unknown types and
   * options, `malformed_config` for invalid values.
   */
  constructor(config: Readonly<Record<string, unknown>>, file = 'preprocessor_config.json') {
    super();
    const isFile = typeof file === 'string';
    expectArgument('ImageProcessor', isFile && isObject(config), 'the object of a config file', isFile ? config : file);
    this.config = config;
    this.image_processor_type = imageProcessorType(config) ?? 'none';
    checkImageProcessorConfig(this.image_processor_type, config, file);
    imageSteps(this.image_processor_type, this.#options(), 'malformed_config', file);
  }

  /** Loads it from the source of a model; see AutoImageProcessor. */
  static from_pretrained(source: Source, options: OrNull<ImageProcessorLoadOptions> = {}): Promise<ImageProcessor> {
    return readSmallFiles('ImageProcessor.from_pretrained', source, options, readImageProcessor);
  }

  /** @internal */
  override async _call(
    images: ImageInput | readonly ImageInput[],
    options: ImageProcessorCallOptions = {},
  ): Promise<ImageProcessorOutput> {
    const call = 'image processor';
    checkOptions(call, options, [...imageProcessorOptions, 'num_channels', 'signal']);
    const { num_channels, signal, ...own } = options;
    if (num_channels !== undefined && num_channels !== 1 && num_channels !== 3) {
      throw new ClearformerError(
        'invalid_argument',
        `${call}: num_channels must be 1 or 3, it is ${textOf(num_channels)}`,
        {
          option: 'num_channels',
        },
      );
    }
    const set = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
    const steps = imageSteps(this.image_processor_type, { ...this.#options(), ...set }, 'invalid_argument', call);
    if (num_channels !== undefined) steps.channels = num_channels;
    const list = Array.isArray(images) ? Array.from(images as readonly ImageInput[]) : [images as ImageInput]; // holes are no images
    const pixels = await abortable(Promise.all(list.map((image) => readImage(call, image))), signal);
    return { pixel_values: await inSlices(batched(call, pixels, steps), signal) };
  }

  #options(): ImageProcessorOptions {
    const known: readonly string[] = imageProcessorOptions;
    return Object.fromEntries(Object.entries(this.config).filter(([option]) => known.includes(option)));
  }
}

export interface ImageProcessor {
  /**
   * pixel_values of one image or of a batch, whose images must all have the same final size. Rejects with
   * `invalid_argument` or `shape_mismatch` for anything but images and for different sizes, `unsupported` for an
   * unknown option, `file_not_found` or `network_error` for an image that cannot be read from its path or URL.
   */
  // biome-ignore lint/style/useShorthandFunctionType: a type of this name would not merge with the class
  (images: ImageInput | readonly ImageInput[], options?: ImageProcessorCallOptions): Promise<ImageProcessorOutput>;
}

/** Loads the image processor of a model. */
export const AutoImageProcessor = {
  /**
   * Loads the image processor of a model: the member `image_processor` of processor_config.json, written by
   * transformers 5, or preprocessor_config.json. If a file names no type, that of the model_type in config.json is
   * used. Rejects with `file_not_found`, `network_error`, `malformed_config`, `unsupported`, `integrity_mismatch`, or
   * the abort signal's reason.
   */
  from_pretrained(source: Source, options: OrNull<ImageProcessorLoadOptions> = {}): Promise<ImageProcessor> {
    return readSmallFiles('AutoImageProcessor.from_pretrained', source, options, readImageProcessor);
  },
};

const ofModelType: Readonly<Record<string, string>> = {
  vit: 'ViTImageProcessor',
  deit: 'DeiTImageProcessor',
  clip: 'CLIPImageProcessor',
  dinov2: 'BitImageProcessor',
  siglip: 'SiglipImageProcessor',
  dinov3_vit: 'DINOv3ViTImageProcessor',
};

/** Reads an image processor from an open folder. */
export async function readImageProcessor(folder: Folder, options: ReadOptions): Promise<ImageProcessor> {
  const { config, file } = await readProcessorConfig(folder, 'image_processor', options);
  if (imageProcessorType(config) !== undefined) return new ImageProcessor(config, file);
  const model = await readOptional(folder, 'config.json', options);
  const { model_type } = JSON.parse(model?.text ?? '{}') as { model_type?: unknown };
  const type = Object.hasOwn(ofModelType, textOf(model_type)) ? ofModelType[textOf(model_type)] : undefined;
  if (type !== undefined) return new ImageProcessor({ image_processor_type: type, ...config }, file);
  throw new ClearformerError(
    'unsupported',
    `${file} names no image_processor_type, and config.json's model_type ${textOf(model_type)} does not tell it`,
    { option: 'image_processor_type', file },
  );
}

/** The steps before normalisation: the image with the required channels and size. */
function* prepared(call: string, image: Pixels, steps: ImageSteps): Steps<Pixels> {
  let out = yield* withChannels(image, steps.channels ?? (image.channels < 3 ? 1 : 3));
  if (steps.resize !== undefined) {
    const [height, width] = resizedTo(steps.resize.size, out.height, out.width);
    if (height === 0 || width === 0) {
      throw new ClearformerError(
        'invalid_argument',
        `${call}: an image of ${out.height} x ${out.width} pixels would shrink to ${height} x ${width}`,
      );
    }
    checkSize(call, width, height);
    const { data } = out;
    if (steps.asFloats) out = yield* resizeFloats(out, width, height, steps.resize.resample);
    else if (isA(data, 'Float32Array')) {
      const unit = isUnit(call, data);
      out = yield* resize({ ...out, data: bytesOf(data, unit) }, width, height, steps.resize.resample);
      if (unit) out = { ...out, data: Float32Array.from(out.data, (value) => value * (1 / 255)) };
    } else out = yield* resize(out, width, height, steps.resize.resample);
  }
  const { crop, asFloats } = steps;
  return crop === undefined ? out : centerCrop(out, crop.height, crop.width, asFloats && Math.trunc);
}

/** Whether floats are in 0 … 1; false for integers in 0 … 255. */
function isUnit(call: string, data: Float32Array): boolean {
  const whole = data.every((value) => Math.abs(value - Math.trunc(value)) <= 1e-8 + 1e-5 * Math.abs(Math.trunc(value)));
  const most = whole ? 255 : 1;
  if (data.every((value) => value >= 0 && value <= most)) return !whole;
  throw new ClearformerError(
    'invalid_argument',
    `${call}: float32 pixels that are resized must be whole numbers from 0 to 255 or lie between 0 and 1`,
  );
}

function bytesOf(data: Float32Array, unit: boolean): Uint8Array {
  return Uint8Array.from(data, (value) => Math.fround(value * (unit ? 255 : 1)));
}

/** The prepared images as [batch, channel, height, width], rescaled and normalised with numpy's float32 rounding. */
function* batched(call: string, read: readonly Pixels[], steps: ImageSteps): Steps<Tensor<'float32'>> {
  const images: Pixels[] = [];
  for (const image of read) images.push(yield* prepared(call, image, steps));
  const [first] = images;
  if (first === undefined) throw new ClearformerError('invalid_argument', `${call}: needs at least one image`);
  const { height, width, channels } = first;
  for (const [option, values] of Object.entries(steps.normalize ?? {})) {
    if (typeof values === 'number' || values.length === channels) continue;
    throw new ClearformerError(
      'invalid_argument',
      `${call}: image_${option} has ${values.length} numbers, images have ${channels} channels`,
      { option: `image_${option}` },
    );
  }
  const size = height * width * channels;
  const out = new Float32Array(images.length * size);
  for (const [i, image] of images.entries()) {
    if (image.height !== height || image.width !== width || image.channels !== channels) {
      const [a, b] = [first, image].map((one) => `${one.channels} x ${one.height} x ${one.width}`);
      throw new ClearformerError('shape_mismatch', `${call}: images of one batch come out as ${a} and as ${b}`);
    }
    for (let c = 0; c < channels; c++) yield* fillChannel(out.subarray(i * size, (i + 1) * size), image, c, steps);
  }
  return new Tensor('float32', out, [images.length, channels, height, width]);
}

function* fillChannel(out: Float32Array, image: Pixels, channel: number, steps: ImageSteps): Steps<void> {
  const { data, channels } = image;
  const pixels = image.width * image.height;
  const { rescale, normalize } = steps;
  const [mean, std] = [normalize?.mean, normalize?.std].map((values) =>
    Math.fround((typeof values === 'object' ? values[channel] : values) ?? 0),
  ) as [number, number];
  const value = (pixel: number): number => {
    const scaled = Math.fround(rescale === undefined ? pixel : pixel * rescale);
    return normalize === undefined ? scaled : Math.fround(scaled - mean) / std;
  };
  const table = isA(data, 'Float32Array') ? undefined : Float32Array.from({ length: 256 }, (_, i) => value(i));
  yield* runs(pixels, (start, end) => {
    for (let i = start; i < end; i++) {
      const pixel = data[i * channels + channel] as number;
      out[channel * pixels + i] = table === undefined ? value(pixel) : (table[pixel] as number);
    }
  });
}
