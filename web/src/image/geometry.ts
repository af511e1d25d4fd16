// Target sizes of images, and centre crops.

import { isA } from '../support/kinds.js';
import type { Pixels } from './pixels.js';

/** A size in the forms of preprocessor_config.json; edges in pixels. */
export type ImageSize =
  | { readonly height: number; readonly width: number }
  | { readonly shortest_edge: number; readonly longest_edge?: number | undefined }
  | { readonly longest_edge: number }
  | { readonly max_height: number; readonly max_width: number };

/** Height and width of an image of `height` x `width` pixels after resizing to `size`, rounded as transformers does. */
export function resizedTo(size: ImageSize, height: number, width: number): [height: number, width: number] {
  if ('height' in size) return [size.height, size.width];
  if ('shortest_edge' in size) return keptRatio(height, width, size.shortest_edge, size.longest_edge);
  const [rows, columns] =
    'max_height' in size ? [size.max_height, size.max_width] : [size.longest_edge, size.longest_edge];
  const scale = Math.min(rows / height, columns / width);
  return [Math.trunc(height * scale), Math.trunc(width * scale)];
}

function keptRatio(height: number, width: number, shortest: number, longest: number | undefined): [number, number] {
  const [short, long] = [Math.min(height, width), Math.max(height, width)];
  let edge = shortest;
  let exact = shortest; // the shorter edge before rounding, which determines the longer one
  if (longest !== undefined && (long / short) * shortest > longest) {
    exact = (longest * short) / long;
    edge = roundedToEven(exact);
  }
  if (short === edge && longest !== undefined) return [height, width];
  const other = Math.trunc((exact * long) / short);
  return width < height ? [other, edge] : [edge, other];
}

/** Python's round: half to even. */
function roundedToEven(value: number): number {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}

/** The centre of an image; an image that is too small is padded with 0; `round` says on which side of
 * it an odd pixel is. */
export function centerCrop(image: Pixels, height: number, width: number, round = Math.floor): Pixels {
  const { data, channels } = image;
  const count = height * width * channels;
  const out = isA(data, 'Float32Array') ? new Float32Array(count) : new Uint8Array(count);
  const top = round((image.height - height) / 2);
  const left = round((image.width - width) / 2);
  const [start, end] = [Math.max(0, left), Math.min(image.width, left + width)];
  for (let y = Math.max(0, -top); y < Math.min(height, image.height - top); y++) {
    const row = (y + top) * image.width;
    out.set(data.subarray((row + start) * channels, (row + end) * channels), (y * width + start - left) * channels);
  }
  return { data: out, width, height, channels };
}
