// What can stand for an image: plain memory and image files anywhere, and what browsers have.

import { ClearformerError, messageOf } from '../support/error.js';
import { isNode } from '../support/platform.js';
import { checkedImage, type ImagePixels, type Pixels } from './pixels.js';

/**
 * An image: pixels in plain memory (a RawImage is such); an image file by its URL, its path (Node) or its contents (in Node PNG, JPEG, WebP and
 * GIF, which the package sharp decodes where it is installed); or (browsers) an ImageData, ImageBitmap, canvas or image
 * element.
 */
export type ImageInput =
  | ImagePixels
  | ImageData
  | ImageBitmap
  | HTMLCanvasElement
  | OffscreenCanvas
  | HTMLImageElement
  | string
  | URL
  | Blob
  | ArrayBuffer
  | Uint8Array;

/**
 * The pixels of `input`. Files and image elements are decoded without colour conversion, as Pillow decodes them, and turned
 * upright as their EXIF orientation says, as transformers' load_image does. Canvases store colours multiplied by alpha:
 * where a pixel is not opaque, its colour comes back rounded. Throws `invalid_argument` for what is no image or cannot be
 * read (another site's image without permission), `file_not_found` or `network_error` for a URL or path that gives nothing,
 * `unsupported` where nothing decodes image files (Node without sharp).
 */
export async function readImage(call: string, input: ImageInput): Promise<Pixels> {
  // By name and not by class: an element of another frame is of that frame's class.
  const kind = Object.prototype.toString.call(input).slice(8, -1);
  if (['String', 'URL', 'ArrayBuffer', 'Uint8Array'].includes(kind)) {
    const { blobOf } = await import('./image_file.js'); // few pages need it
    return decoded(call, await blobOf(call, input as string | URL | ArrayBuffer | Uint8Array));
  }
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
    if (isNode()) return (await import('./image_file.js')).decodeFile(call, source as Blob);
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
