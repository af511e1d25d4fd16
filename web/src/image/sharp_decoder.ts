// Decodes image files in Node with sharp, an optional package that is loaded on first use. The pixels equal
// Pillow's: no colour management, rotated according to the EXIF orientation.

import { ClearformerError, messageOf } from '../support/error.js';
import { baseUrl, nodeModule } from '../support/platform.js';
import { inSlices, runs, type Steps } from '../support/steps.js';
import { surrounded, withoutTransparency } from './gif_first_picture.js';
import { checkSize, type Pixels, withChannels } from './pixels.js';

type Bytes = Pixels & { data: Uint8Array };

interface Metadata {
  format?: string;
  space?: string;
  width?: number;
  height?: number;
}

/** The part of sharp's interface that is used. */
interface Sharp {
  metadata(): Promise<Metadata>;
  autoOrient(): Sharp;
  toColourspace(space: string): Sharp;
  pipelineColourspace(space: string): Sharp;
  raw(options?: { depth?: string }): Sharp;
  toFormat(format: string, options: { quality: number }): Sharp;
  toBuffer(): Promise<Uint8Array>;
  toBuffer(options: { resolveWithObject: true }): Promise<{
    data: Uint8Array;
    info: { width: number; height: number; channels: number };
  }>;
}
type RawPixels = { raw: { width: number; height: number; channels: number } };
type MakeSharp = (bytes: Uint8Array, options: { ignoreIcc: boolean; failOn: string } | RawPixels) => Sharp;

const formats = ['png', 'jpeg', 'webp', 'gif'];
const known = `known: ${formats.join(', ')}`;

/**
 * The pixels of a PNG, JPEG, WebP or GIF file; of an animation, its first frame. Throws `unsupported` without sharp and
 * for other formats, `invalid_argument` for files that cannot be decoded.
 */
export async function decodeWithSharp(call: string, bytes: Uint8Array): Promise<Pixels> {
  const make = loadSharp(call);
  const unreadable = (cause: unknown, hint = '') => {
    const message = `${call}: the image cannot be read (${messageOf(cause)}${hint})`;
    return Promise.reject(new ClearformerError('invalid_argument', message, {}, cause));
  };
  const options = { ignoreIcc: true, failOn: 'error' } as const; // as Pillow, which reads on where decoders only warn
  const read = async () => unknownToSharp(bytes) ?? make(bytes, options).metadata();
  const { format = '', space, width = 0, height = 0 } = await read().catch((cause) => unreadable(cause, `; ${known}`));
  if (!formats.includes(format)) {
    throw new ClearformerError('unsupported', `${call}: ${format} is no image format that is read (${known})`, {
      expected: formats,
    });
  }
  const first = format === 'gif' ? withoutTransparency(bytes) : undefined;
  checkSize(call, first?.picture.columns ?? width, first?.picture.rows ?? height);
  const upright = make(first?.file ?? bytes, options).autoOrient();
  const image = await (pixelsIn[space ?? ''] ?? colours)(upright, bytes).catch(unreadable);
  return first === undefined ? image : surrounded(image, first.picture);
}

/** The format of a file that sharp does not recognise. */
function unknownToSharp([first, second, third]: Uint8Array): Metadata | undefined {
  if (first === 0x42 && second === 0x4d) return { format: 'bmp' };
  return first === 0 && second === 0 && third === 1 ? { format: 'ico' } : undefined;
}

/** Converts pixels of other colour spaces to 8-bit red, green and blue (or grey, replicated). */
const pixelsIn: Readonly<Record<string, (image: Sharp, file: Uint8Array) => Promise<Pixels>>> = {
  cmyk: async (image) =>
    inSlices(fromInks(await rawOf(image.pipelineColourspace('cmyk').toColourspace('cmyk').raw())), undefined),
  grey16: async (image, file) =>
    inSlices(bytesOf(await rawOf(image.toColourspace('grey16').raw({ depth: 'ushort' })), file), undefined),
};

const colours = (image: Sharp) => rawOf(image.raw());

async function rawOf(image: Sharp): Promise<Bytes> {
  const { data, info } = await image.toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return { data, width, height, channels };
}

const greyWithAlpha = 4; // the colour type in byte 25 of a PNG file; a transparent grey has alpha, too

/** Converts 16-bit grey to bytes: Pillow clips at 255; with alpha it takes the upper 8 bits. */
function* bytesOf({ data, width, height, channels }: Bytes, file: Uint8Array): Steps<Pixels> {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const little = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1; // samples have the machine's byte order
  const isShifted = file[25] === greyWithAlpha;
  const byteOf = (value: number) => (isShifted ? value >> 8 : Math.min(value, 255));
  const grey = new Uint8Array(data.length / 2);
  yield* runs(grey.length, (start, end) => {
    for (let i = start; i < end; i++) grey[i] = byteOf(view.getUint16(2 * i, little));
  });
  return yield* withChannels({ data: grey, width, height, channels }, 3);
}

/** Converts cyan, magenta, yellow and black to red, green and blue like Pillow: white minus the inks. */
function* fromInks({ data, width, height, channels }: Bytes): Steps<Bytes> {
  const out = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) {
    if (i % width === 0) yield;
    const light = 255 - (data[i * channels + 3] as number);
    for (let c = 0; c < 3; c++) {
      const product = (data[i * channels + c] as number) * light + 128;
      out[i * 3 + c] = light - ((product + (product >> 8)) >> 8); // product / 255, rounded
    }
  }
  return { data: out, width, height, channels: 3 };
}

/** Encodes an image file; `quality` from 0 to 1. */
export async function encodeWithSharp(call: string, image: Bytes, type: string, quality: number): Promise<Uint8Array> {
  const { data, width, height, channels } = image;
  const format = type.replace('image/', '');
  if (!formats.includes(format)) {
    const types = formats.map((each) => `image/${each}`).join(', ');
    throw new ClearformerError('unsupported', `${call}: ${type} is not written (known: ${types})`, { option: 'type' });
  }
  const lossy = { quality: Math.max(1, Math.round(quality * 100)) };
  return loadSharp(call)(data, { raw: { width, height, channels } }).toFormat(format, lossy).toBuffer();
}

/** No import statement names sharp, so that bundlers have nothing to resolve. */
function loadSharp(call: string): MakeSharp {
  const { createRequire } = nodeModule('node:module');
  const from = import.meta.url?.startsWith('file:') ? import.meta.url : baseUrl();
  try {
    return createRequire(from)('sharp') as MakeSharp;
  } catch (cause) {
    throw new ClearformerError(
      'unsupported',
      `${call}: image files are decoded by the package sharp, which is not here: npm install sharp (${messageOf(cause).split('\n')[0]})`,
      { expected: ['sharp'] },
      cause,
    );
  }
}
