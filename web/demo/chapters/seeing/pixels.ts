// The picture in the address: 28 × 28 grey values of sixteen levels, cropped to the bounding box; or a sample of MNIST.

import { ClearformerError, type ImageInput } from 'clearformer';
import { once } from '../../book/remembered.js';
import { digits } from './geometry.js';

const { side } = digits;
export const sampleCount = 10;

/** Grey values from 0 (paper) to 255 (ink), row by row. */
export type Greys = Uint8Array;

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const numberOf = new Map(Array.from(letters, (letter, value) => [letter, value]));
const levels = 15;
const step = 255 / levels;
const empty = 'p';

/** Encodes the picture as text; grey values are quantised to sixteen levels, those that `pictureOf` returns. */
export function textOf(greys: Greys): string {
  const rounded = Array.from(greys, (grey) => Math.round(grey / step));
  const box = boxOf(rounded);
  if (!box) return empty;
  const inside: number[] = [];
  for (let y = box.top; y < box.top + box.height; y++) {
    for (let x = box.left; x < box.left + box.width; x++) inside.push(rounded[y * side + x] ?? 0);
  }
  let text = `${empty}${[box.left, box.top, box.width, box.height].map((n) => letters[n]).join('')}`;
  for (let i = 0; i < inside.length; i += 3) {
    const bits = ((inside[i] ?? 0) << 8) | ((inside[i + 1] ?? 0) << 4) | (inside[i + 2] ?? 0);
    text += `${letters[bits >> 6]}${letters[bits & 63]}`;
  }
  return text;
}

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

function boxOf(values: readonly number[]): Box | undefined {
  let [left, top, right, bottom] = [side, side, -1, -1];
  values.forEach((value, i) => {
    if (value === 0) return;
    const [x, y] = [i % side, Math.floor(i / side)];
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  });
  return right < 0 ? undefined : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/** Decodes the text of `textOf`. Throws `invalid_argument` for another text. */
function pictureOf(text: string): Greys {
  const greys = new Uint8Array(side * side);
  if (text === empty) return greys;
  const values = Array.from(text.slice(1), (letter) => numberOf.get(letter) ?? -1);
  const [left = -1, top = -1, width = 0, height = 0] = values;
  const pairs = Math.ceil((width * height) / 3);
  const fits = left + width <= side && top + height <= side && values.length === 4 + 2 * pairs && !values.includes(-1);
  if (!text.startsWith(empty) || !fits || width * height === 0) {
    throw new ClearformerError('invalid_argument', `the picture of the address can't be read: ${text.slice(0, 40)}`);
  }
  for (let i = 0; i < width * height; i++) {
    const at = 4 + 2 * Math.floor(i / 3);
    const bits = ((values[at] ?? 0) << 6) | (values[at + 1] ?? 0);
    const level = (bits >> (4 * (2 - (i % 3)))) & 15;
    greys[(top + Math.floor(i / width)) * side + left + (i % width)] = level * step;
  }
  return greys;
}

/** The URL of the samples; resolved against the document, so that the page works under any path. */
export const samplesUrl = (): string => new URL('models/vit-mnist/samples.png', document.baseURI).href;

/** Ten handwritten digits, 0 to 9. */
const loadSamples = once(async (): Promise<Greys[]> => {
  const image = new Image();
  image.src = samplesUrl();
  await image.decode().catch((cause: unknown) => {
    throw new ClearformerError('network_error', 'the samples of MNIST could not be fetched', {}, cause);
  });
  const context = new OffscreenCanvas(sampleCount * side, side).getContext('2d', { willReadFrequently: true });
  context?.drawImage(image, 0, 0);
  const all = context?.getImageData(0, 0, sampleCount * side, side).data ?? new Uint8ClampedArray();
  return Array.from({ length: sampleCount }, (_, sample) =>
    Uint8Array.from({ length: side * side }, (_, i) => {
      const x = sample * side + (i % side);
      return all[4 * (Math.floor(i / side) * sampleCount * side + x)] ?? 0;
    }),
  );
});

/** The picture in the address: `s5` is a sample, anything else its pixels. */
async function pictureFrom(text: string): Promise<Greys> {
  const sample = /^s(\d)$/.exec(text)?.[1];
  if (sample === undefined) return pictureOf(text);
  return (await loadSamples())[Number(sample)] ?? new Uint8Array(side * side);
}

/** The files that own models were given, kept until the page is closed. */
const files: Blob[] = [];

/** Keeps a file; returns its text in the address. */
export function keptFile(file: Blob): string {
  return `f${files.push(file)}`;
}

/** The picture in the address as the input of an image processor. Throws `invalid_argument` for a file not kept. */
export async function imageFrom(text: string): Promise<ImageInput> {
  const number = /^f(\d+)$/.exec(text)?.[1];
  if (number === undefined) return { data: await pictureFrom(text), width: side, height: side, channels: 1 };
  const file = files[Number(number) - 1];
  if (file) return file;
  throw new ClearformerError('invalid_argument', 'picture files are not kept in the address: choose the picture again');
}
