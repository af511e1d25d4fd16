// What can stand for an image: plain memory anywhere, and what browsers have.

import { ClearformerError, messageOf } from '../support/error.js';
import { checkedImage, type Pixels, type RawImage } from './raw_image.js';

/**
 * An image: pixels in plain memory, or (browsers) an ImageData, ImageBitmap, canvas, image element, or a Blob that holds
 * an image file. A URL is for the caller to fetch: `await (await fetch(url)).blob()`.
 */
export type ImageInput =
  | RawImage
  | ImageData
  | ImageBitmap
  | HTMLCanvasElement
  | OffscreenCanvas
  | HTMLImageElement
  | Blob;

/**
 * The pixels of `input`. Files and image elements are decoded without colour conversion, as Pillow decodes them, and turned
 * upright as their EXIF orientation says, as transformers' load_image does. Canvases store colours multiplied by alpha:
 * where a pixel is not opaque, its colour comes back rounded. Throws `invalid_argument` for what is no image or cannot be
 * read (another site's image without permission), `unsupported` for files where nothing decodes them (Node).
 */
export async function readImage(call: string, input: ImageInput): Promise<Pixels> {
  // By name and not by class: an element of another frame is of that frame's class.
  const kind = Object.prototype.toString.call(input).slice(8, -1);
  if (kind === 'Blob' || kind === 'File') return decoded(call, input as Blob);
  if (kind === 'HTMLImageElement') {
    const image = input as HTMLImageElement;
    await image.decode().catch((cause: unknown) => Promise.reject(unreadable(call, cause)));
    return decoded(call, image);
  }
  if (kind === 'ImageBitmap' || kind === 'HTMLCanvasElement' || kind === 'OffscreenCanvas') {
    return drawn(call, input as ImageBitmap | HTMLCanvasElement | OffscreenCanvas);
  }
  return checkedImage(call, input);
}

async function decoded(call: string, source: Blob | HTMLImageElement): Promise<Pixels> {
  if (typeof createImageBitmap !== 'function') {
    throw new ClearformerError(
      'unsupported',
      `${call}: nothing here decodes image files; pass pixels as { data, width, height, channels }`,
    );
  }
  const options: ImageBitmapOptions = { colorSpaceConversion: 'none', premultiplyAlpha: 'none' };
  const bitmap = await createImageBitmap(source, options).catch((cause: unknown) =>
    Promise.reject(unreadable(call, cause)),
  );
  try {
    return drawn(call, bitmap);
  } finally {
    bitmap.close();
  }
}

function drawn(call: string, source: ImageBitmap | HTMLCanvasElement | OffscreenCanvas): Pixels {
  const { width, height } = source;
  try {
    // Kept in main memory: what a graphics card draws may differ in the last bit.
    const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
    if (context === null) throw new Error('no canvas of this size');
    context.drawImage(source, 0, 0);
    return checkedImage(call, context.getImageData(0, 0, width, height));
  } catch (cause) {
    throw unreadable(call, cause);
  }
}

function unreadable(call: string, cause: unknown): ClearformerError {
  return new ClearformerError('invalid_argument', `${call}: the image cannot be read (${messageOf(cause)})`, {}, cause);
}
