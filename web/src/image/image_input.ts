// Image inputs: raw pixels and image files everywhere, and the browser's image types.

import type { Browser } from '../support/browser_types.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { isBlob, kindOf } from '../support/kinds.js';
import { isNode } from '../support/platform.js';
import { checkedImage, checkSize, type ImagePixels, type Pixels } from './pixels.js';

/**
 * An image: raw pixels (such as a RawImage); an image file by its URL, its path (Node) or its contents (in Node PNG,
 * JPEG, WebP and GIF, decoded by the package sharp if it is installed); or (browsers) an ImageData, ImageBitmap, canvas
 * or image element. Browsers decode some files unlike Pillow: transparent pixels are black, WebP is not rotated by its
 * EXIF orientation, of 16-bit grey the upper bits are taken, where Pillow clips, CMYK may differ by 1, and an animated
 * PNG's first frame is taken, where Pillow takes its default image.
 */
export type ImageInput =
  | ImagePixels
  | Browser<'ImageData'>
  | Browser<'ImageBitmap'>
  | Browser<'HTMLCanvasElement'>
  | Browser<'OffscreenCanvas'>
  | Browser<'HTMLImageElement'>
  | string
  | URL
  | Blob
  | ArrayBuffer
  | Uint8Array;

/**
 * The pixels of `input`. Files and image elements are decoded without colour conversion, like Pillow, and rotated
 * according to their EXIF orientation, like transformers' load_image. Canvases store premultiplied alpha: the colour of
 * pixels that are not opaque is rounded. Throws `invalid_argument` for anything but an image and for an image that
 * cannot be read (cross-origin without permission), `file_not_found` or `network_error` for a URL or path that cannot
 * be read, `unsupported` if there is no decoder (Node without sharp).
 */
export async function readImage(call: string, input: ImageInput): Promise<Pixels> {
  // By name and not by class: elements of other frames have that frame's classes.
  const kind = kindOf(input);
  if (['String', 'URL', 'File', 'ArrayBuffer', 'Uint8Array'].includes(kind)) {
    const { readFile } = await import('./image_file.js'); // rarely needed
    return readFile(call, input as string | URL | File | ArrayBuffer | Uint8Array, (file) => decoded(call, file));
  }
  if (isBlob(input)) return decoded(call, input);
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

/** The pixels of what can be drawn; throws `invalid_argument` if they cannot be read. */
export function drawn(call: string, source: ImageBitmap | HTMLCanvasElement | OffscreenCanvas): Pixels {
  const { width, height } = source;
  checkSize(call, width, height);
  try {
    const context = emptyCanvas(width, height);
    context.drawImage(source, 0, 0);
    return checkedImage(call, context.getImageData(0, 0, width, height));
  } catch (cause) {
    throw unreadable(call, cause);
  }
}

/** The context of a new canvas; throws for a size of which engines draw nothing, some of them silently. */
export function emptyCanvas(width: number, height: number): OffscreenCanvasRenderingContext2D {
  try {
    // Software rendering: a graphics card's result may differ in the last bit.
    const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
    context?.fillRect(0, 0, 1, 1);
    if (context?.getImageData(0, 0, 1, 1).data[3]) {
      context.clearRect(0, 0, 1, 1);
      return context;
    }
  } catch {
    // Others throw.
  }
  const has = typeof OffscreenCanvas === 'function';
  throw new Error(has ? `no canvas of ${width} x ${height} pixels` : 'there is no canvas here');
}

function unreadable(call: string, cause: unknown): ClearformerError {
  return new ClearformerError('invalid_argument', `${call}: the image cannot be read (${messageOf(cause)})`, {}, cause);
}
