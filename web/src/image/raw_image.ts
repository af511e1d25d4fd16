// RawImage: an image in memory, with transformers.js' methods. Resizing, grey and crops give Pillow's results.

import type { Browser } from '../support/browser_types.js';
import { copied } from '../support/copied.js';
import { ClearformerError, messageOf, textOf } from '../support/error.js';
import { isA } from '../support/kinds.js';
import { checkOptions, expectArgument } from '../support/options.js';
import { isNode, nodeModule } from '../support/platform.js';
import { atOnce, inSlices } from '../support/steps.js';
import { isTensor, Tensor } from '../tensor/tensor.js';
import { centerCrop } from './geometry.js';
import { drawn, emptyCanvas, type ImageInput, readImage } from './image_input.js';
import { checkedImage, checkSize, type ImagePixels, type Pixels, withChannels } from './pixels.js';
import { resamplings, resize } from './resampling.js';

/** The position of a tensor's channel axis: first or last. */
export type ChannelOrder = 'CHW' | 'HWC';
/** A resampling filter, by Pillow's number or by name. */
export type Resample = 0 | 1 | 2 | 3 | 4 | 5 | 'nearest' | 'lanczos' | 'bilinear' | 'bicubic' | 'box' | 'hamming';

type Bytes = Uint8Array | Uint8ClampedArray;
const names = ['nearest', 'lanczos', 'bilinear', 'bicubic', 'box', 'hamming'];

/**
 * An image of bytes: rows from top to bottom, pixels from left to right, interleaved channels. Methods that change it
 * return the image itself. Anything that is not an image or does not fit throws `invalid_argument`,
 * `shape_mismatch` or (a tensor) `dtype_mismatch`.
 */
export class RawImage implements ImagePixels {
  data: Bytes;
  /** In pixels. */
  width: number;
  height: number;
  /** 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
  channels: 1 | 2 | 3 | 4;

  /** `channels` default to what `data` has for each pixel. */
  constructor(data: Bytes, width: number, height: number, channels?: 1 | 2 | 3 | 4) {
    const image = checkedImage('RawImage', { data, width, height, channels });
    if (isA(image.data, 'Float32Array')) {
      throw new ClearformerError('dtype_mismatch', 'RawImage: holds bytes, and data is a Float32Array');
    }
    this.data = image.data;
    this.width = width;
    this.height = height;
    this.channels = image.channels as 1 | 2 | 3 | 4;
  }

  /** [width, height] */
  get size(): [width: number, height: number] {
    return [this.width, this.height];
  }

  /**
   * Reads any image: a file by URL, path (Node) or contents, a canvas, an ImageData … A RawImage is returned unchanged.
   */
  static async read(input: ImageInput): Promise<RawImage> {
    return input instanceof RawImage ? input : made(await readImage('RawImage.read', input));
  }
  /** An image file by its URL or, with Node, its path. */
  static fromURL(url: string | URL): Promise<RawImage> {
    return RawImage.read(url);
  }
  /** An image file by its contents. */
  static fromBlob(blob: Blob): Promise<RawImage> {
    return RawImage.read(blob);
  }
  /** The contents of a canvas, as RGBA. */
  static fromCanvas(canvas: Browser<'HTMLCanvasElement'> | Browser<'OffscreenCanvas'>): RawImage {
    expectArgument('RawImage.fromCanvas', typeof canvas?.getContext === 'function', 'a canvas', canvas);
    return made(drawn('RawImage.fromCanvas', canvas));
  }
  /** From a uint8 tensor, [channel, height, width] or channels last. */
  static fromTensor(tensor: Tensor, channel_format: ChannelOrder = 'CHW'): RawImage {
    expectArgument('RawImage.fromTensor', isTensor(tensor), 'a Tensor', tensor);
    const order = checkedOrder('RawImage.fromTensor', channel_format);
    if (tensor.type !== 'uint8' || tensor.dims.length !== 3) {
      const found = `${tensor.type} [${tensor.dims.join(', ')}]`;
      throw new ClearformerError('dtype_mismatch', `RawImage.fromTensor: needs uint8 with three axes, got ${found}`);
    }
    const { data, dims } = order === 'CHW' ? tensor.permute(1, 2, 0) : tensor;
    const [height, width, channels] = dims as [number, number, number];
    return made({ data: data as Uint8Array, width, height, channels });
  }

  /** uint8 [channel, height, width], or channels last. */
  toTensor(channel_format: ChannelOrder = 'CHW'): Tensor<'uint8'> {
    const order = checkedOrder('RawImage.toTensor', channel_format);
    const tensor = new Tensor('uint8', new Uint8Array(this.data), [this.height, this.width, this.channels]);
    return order === 'CHW' ? tensor.permute(2, 0, 1) : tensor;
  }

  /** Converts to one channel by ITU-R 601-2, like Pillow's convert('L'). */
  grayscale(): this {
    return this.#become(atOnce(withChannels(this, 1)));
  }
  /** Converts to three channels; alpha is dropped. */
  rgb(): this {
    return this.#become(atOnce(withChannels(this, 3)));
  }
  /** Converts to four channels, opaque if there was no alpha. */
  rgba(): this {
    if (this.channels === 4) return this;
    const alpha = this.channels === 2 ? this.split()[1] : undefined;
    this.rgb();
    const data = new Uint8ClampedArray(this.width * this.height * 4).fill(255);
    for (let i = 0; i < data.length / 4; i++) {
      data.set(this.data.subarray(i * 3, i * 3 + 3), i * 4);
      if (alpha !== undefined) data[i * 4 + 3] = alpha.data[i] as number;
    }
    return this.#become({ ...this.#pixels(), data, channels: 4 });
  }
  /** Converts to 1, 3 or 4 channels. */
  convert(numChannels: number): this {
    if (numChannels === this.channels) return this;
    if (numChannels === 1) return this.grayscale();
    if (numChannels === 3) return this.rgb();
    if (numChannels === 4) return this.rgba();
    const found = textOf(numChannels);
    throw new ClearformerError('invalid_argument', `RawImage.convert: to 1, 3 or 4 channels, not ${found}`);
  }
  /** Converts to RGBA, with a mask of one channel as alpha. */
  putAlpha(mask: RawImage): this {
    expectArgument('RawImage.putAlpha', mask instanceof RawImage, 'a RawImage', mask);
    if (mask.width !== this.width || mask.height !== this.height || mask.channels !== 1) {
      const found = `${mask.width} x ${mask.height} with ${mask.channels} channels`;
      throw new ClearformerError(
        'shape_mismatch',
        `RawImage.putAlpha: a mask of ${this.width} x ${this.height} with 1 channel is needed, not ${found}`,
      );
    }
    this.rgba();
    mask.data.forEach((value, i) => {
      this.data[i * 4 + 3] = value;
    });
    return this;
  }
  /** Each channel as an image of its own. */
  split(): RawImage[] {
    return Array.from({ length: this.channels }, (_, channel) => {
      const data = new Uint8ClampedArray(this.width * this.height);
      for (let i = 0; i < data.length; i++) data[i] = this.data[i * this.channels + channel] as number;
      return new RawImage(data, this.width, this.height, 1);
    });
  }

  /**
   * Resizes, in pixels; null or -1 for one of them keeps the aspect ratio. Results are Pillow's. Default: bilinear.
   * Rejects with `invalid_argument` for invalid sizes, or with the signal's reason.
   */
  async resize(
    width: number | null,
    height: number | null,
    options: { resample?: Resample | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<this> {
    checkOptions('RawImage.resize', options, ['resample', 'signal']);
    const { resample = 2, signal } = options;
    const filter = typeof resample === 'string' ? names.indexOf(resample) : resample;
    if (!resamplings.includes(filter)) {
      const message = `RawImage.resize: resample is ${textOf(resample)} (known: 0 to 5, ${names.join(', ')})`;
      throw new ClearformerError('unsupported', message, { option: 'resample' });
    }
    const open = (edge: number | null) => edge === null || edge === -1;
    if (open(width) && open(height)) return this;
    const columns = open(width) ? Math.round((Number(height) / this.height) * this.width) : (width as number);
    const rows = open(height) ? Math.round((Number(width) / this.width) * this.height) : (height as number);
    checkExtents('resize', [columns, rows], 1);
    checkSize('RawImage.resize', columns, rows);
    const by = this.channels % 2 ? resize : (await import('./resampling_alpha.js')).resizeWithAlpha;
    return this.#become(await inSlices(by(this, columns, rows, filter), signal));
  }
  /** Crops to [x_min, y_min, x_max, y_max], inclusive. */
  async crop(box: readonly [number, number, number, number]): Promise<this> {
    const areFour = Array.isArray(box) && box.length === 4 && box.every((one) => typeof one === 'number');
    expectArgument('RawImage.crop', areFour, 'an array of four numbers', box);
    const [x_min, y_min, x_max, y_max] = box;
    const [left, top] = [Math.max(x_min, 0), Math.max(y_min, 0)];
    checkExtents('crop', [left, top], 0);
    const [width, height] = [Math.min(x_max, this.width - 1) - left + 1, Math.min(y_max, this.height - 1) - top + 1];
    checkExtents('crop', [width, height], 1);
    return this.#become(this.#framed(width, height, left, top));
  }
  /** Crops to the centre; a smaller image is padded with 0. */
  async center_crop(crop_width: number, crop_height: number): Promise<this> {
    checkExtents('center_crop', [crop_width, crop_height], 1);
    checkSize('RawImage.center_crop', crop_width, crop_height);
    return this.#become(centerCrop(this, crop_height, crop_width));
  }
  /** Pads with zeros: [left, right, top, bottom] in pixels. */
  async pad(margins: readonly [number, number, number, number]): Promise<this> {
    expectArgument('RawImage.pad', Array.isArray(margins), 'an array of four numbers', margins);
    const [left, right, top, bottom] = margins;
    checkExtents('pad', [left, right, top, bottom], 0);
    return this.#become(this.#framed(this.width + left + right, this.height + top + bottom, -left, -top));
  }
  /** A copy. */
  clone(): RawImage {
    return new RawImage(copied(this.data), this.width, this.height, this.channels);
  }

  /** An OffscreenCanvas with the image; throws `unsupported` if there is none, or none of this size. */
  toCanvas(): Browser<'OffscreenCanvas'> {
    const { data, width, height } = this.clone().rgba();
    try {
      const context = emptyCanvas(width, height);
      context.putImageData(new ImageData(new Uint8ClampedArray(data), width, height), 0, 0);
      return context.canvas;
    } catch (cause) {
      const message = `RawImage.toCanvas: ${messageOf(cause)}; use toTensor`;
      throw new ClearformerError('unsupported', message, {}, cause);
    }
  }
  /**
   * Encodes an image file; in Node by the package sharp if it is installed. `quality` from 0 to 1 for JPEG and WebP. Throws
   * `unsupported` for a type that cannot be encoded here.
   */
  async toBlob(type = 'image/png', quality = 1): Promise<Blob> {
    expectArgument('RawImage.toBlob', typeof type === 'string', 'a MIME type', type);
    expectArgument('RawImage.toBlob', quality >= 0 && quality <= 1, 'a quality from 0 to 1', quality);
    if (isNode()) {
      const { encodeWithSharp } = await import('./sharp_decoder.js');
      const bytes = { ...this.#pixels(), data: new Uint8Array(this.data) };
      return new Blob([(await encodeWithSharp('RawImage.toBlob', bytes, type, quality)) as BlobPart], { type });
    }
    const blob = await this.toCanvas().convertToBlob({ type, quality });
    if (blob.type === type) return blob; // else it is a PNG
    throw new ClearformerError('unsupported', `RawImage.toBlob: ${type} is not written here`, { option: 'type' });
  }
  /**
   * Writes an image file (Node), or has the browser download one named after the last part of the path; the format follows
   * the extension, PNG without one. Throws `unsupported` for a format that cannot be encoded here, and in workers,
   * `invalid_argument` for a path that cannot be written.
   */
  async save(path: string): Promise<void> {
    expectArgument('RawImage.save', typeof path === 'string' && path, 'a path', path);
    const name = path.split(/[\\/]/).pop() ?? '';
    const [, ending = 'png'] = /\.([^.]+)$/.exec(name.toLowerCase()) ?? [];
    if (!isNode() && typeof document === 'undefined') {
      const instead = 'send what toBlob() gives to the page';
      throw new ClearformerError('unsupported', `RawImage.save: a worker cannot save; ${instead}`);
    }
    const blob = await this.toBlob(`image/${ending === 'jpg' ? 'jpeg' : ending}`);
    if (isNode()) return write(path, blob);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // some browsers read it after the click
  }

  /** A frame of this size whose top left corner is at that position of the image; zeros outside. */
  #framed(width: number, height: number, left: number, top: number): Pixels {
    const { channels } = this;
    checkSize('RawImage', width, height);
    const data = new Uint8ClampedArray(width * height * channels);
    const [start, end] = [Math.max(left, 0), Math.min(left + width, this.width)];
    for (let y = Math.max(top, 0); y < Math.min(top + height, this.height); y++) {
      const row = this.data.subarray((y * this.width + start) * channels, (y * this.width + end) * channels);
      data.set(row, ((y - top) * width + start - left) * channels);
    }
    return { data, width, height, channels };
  }

  #pixels(): Pixels {
    const { data, width, height, channels } = this;
    return { data, width, height, channels };
  }

  #become({ data, width, height, channels }: Pixels): this {
    return Object.assign(this, { data, width, height, channels });
  }
}

async function write(path: string, blob: Blob): Promise<void> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  await nodeModule('node:fs/promises')
    .writeFile(path, bytes)
    .catch((cause: unknown) => {
      const message = `RawImage.save: could not write (${messageOf(cause)})`;
      throw new ClearformerError('invalid_argument', message, {}, cause);
    });
}

function made({ data, width, height, channels }: Pixels): RawImage {
  return new RawImage(data as Bytes, width, height, channels as 1 | 2 | 3 | 4);
}

function checkedOrder(call: string, order: ChannelOrder): ChannelOrder {
  if (order === 'CHW' || order === 'HWC') return order;
  throw new ClearformerError('unsupported', `${call}: channels are 'CHW' or 'HWC', not ${textOf(order)}`);
}

function checkExtents(method: string, pixels: readonly number[], least: number): void {
  if (pixels.every((count) => Number.isInteger(count) && count >= least)) return;
  const found = pixels.map(textOf).join(', ');
  throw new ClearformerError(
    'invalid_argument',
    `RawImage.${method}: whole numbers of pixels from ${least}, not ${found}`,
  );
}

/** Any image as a RawImage; see `RawImage.read`. */
export function load_image(input: ImageInput): Promise<RawImage> {
  return RawImage.read(input);
}
