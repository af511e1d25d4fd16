// Raw pixels, and conversions between grey and colour.

import { ClearformerError, textOf } from '../support/error.js';
import { isA } from '../support/kinds.js';
import { expectArgument } from '../support/options.js';
import { runs, type Steps } from '../support/steps.js';
import { isTensor } from '../tensor/tensor.js';

/** An image in memory: rows from top to bottom, pixels from left to right, interleaved channels. */
export interface ImagePixels {
  /** Integers from 0 to 255, or float32; see ImageProcessor for their interpretation. */
  readonly data: Uint8Array | Uint8ClampedArray | Float32Array;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  /** 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA; default: inferred from `data`. */
  readonly channels?: 1 | 2 | 3 | 4 | undefined;
}

/** A validated image. */
export interface Pixels {
  data: Uint8Array | Uint8ClampedArray | Float32Array;
  width: number;
  height: number;
  channels: number;
}

/** Pixels an image may have: 16,384 x 8,192. */
const mostPixels = 2 ** 27;

/** Throws `invalid_argument` for an image of more pixels than are taken. */
export function checkSize(call: string, width: number, height: number): void {
  if (width * height <= mostPixels) return;
  const found = `an image of ${width} x ${height} pixels`;
  throw new ClearformerError('invalid_argument', `${call}: ${found} has more than ${mostPixels}`);
}

/** Validates an image; throws `invalid_argument` or `shape_mismatch`. */
export function checkedImage(call: string, image: unknown): Pixels {
  const { data, width, height, channels } = (image ?? {}) as { [K in keyof ImagePixels]?: unknown };
  expectArgument(call, !isTensor(image), 'an image, which RawImage.fromTensor makes of a tensor', 'a Tensor');
  if (!isA(data, 'Uint8Array', 'Uint8ClampedArray', 'Float32Array')) {
    const kinds = 'an image file (URL, path or contents), an ImageData, an ImageBitmap, a canvas, an image element';
    throw new ClearformerError(
      'invalid_argument',
      `${call}: an image is ${kinds} or { data, width, height, channels } with bytes or float32, not ${textOf(data ?? image)}`,
    );
  }
  const [columns, rows] = [extent(call, 'width', width), extent(call, 'height', height)];
  checkSize(call, columns, rows);
  const count = channels === undefined ? data.length / (columns * rows) : channels;
  if (count === 1 || count === 2 || count === 3 || count === 4) {
    if (data.length === columns * rows * count) return { data, width: columns, height: rows, channels: count };
  }
  throw new ClearformerError(
    'shape_mismatch',
    `${call}: data of ${data.length} elements is no image of ${columns} x ${rows} pixels with ${
      channels === undefined ? '1 to 4' : textOf(channels)
    } channels`,
  );
}

function extent(call: string, name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new ClearformerError(
    'invalid_argument',
    `${call}: ${name} must be a whole number > 0, it is ${textOf(value)}`,
    {
      option: name,
    },
  );
}

/**
 * The image with one channel or three, like Pillow's convert('L') and convert('RGB'): alpha is dropped, grey is
 * replicated, and colour is converted to grey by ITU-R 601-2, for bytes in fixed point.
 */
export function* withChannels(image: Pixels, channels: 1 | 3): Steps<Pixels> {
  if (image.channels === channels) return image;
  const { data, channels: from } = image;
  const pixels = image.width * image.height;
  const out = isA(data, 'Float32Array') ? new Float32Array(pixels * channels) : new Uint8Array(pixels * channels);
  const grey = isA(data, 'Float32Array') ? floatLuma : byteLuma;
  yield* runs(pixels, (start, end) => {
    for (let i = start; i < end; i++) {
      const at = i * from;
      if (channels === 1) out[i] = from < 3 ? (data[at] as number) : grey(data, at);
      else for (let c = 0; c < 3; c++) out[i * 3 + c] = data[from < 3 ? at : at + c] as number;
    }
  });
  return { ...image, data: out, channels };
}

function byteLuma(data: ArrayLike<number>, at: number): number {
  const [red, green, blue] = [data[at] as number, data[at + 1] as number, data[at + 2] as number];
  return (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16;
}

function floatLuma(data: ArrayLike<number>, at: number): number {
  return ((data[at] as number) * 299 + (data[at + 1] as number) * 587 + (data[at + 2] as number) * 114) / 1000;
}
