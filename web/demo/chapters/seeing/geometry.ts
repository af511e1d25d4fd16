// The patch grid of a vision model: sizes, the pixels of a patch, and the patch positions of the address.

import { ClearformerError, type PreTrainedModel } from 'clearformer';

/** Sizes of a picture and of its patches. */
export interface Geometry {
  /** Pixels per side of the picture. */
  readonly side: number;
  /** 1 grey, 3 RGB. */
  readonly channels: number;
  /** Pixels per side of a patch. */
  readonly patch: number;
  /** Patches per side of the picture. */
  readonly grid: number;
  readonly places: number;
  /** Numbers per patch: channels · patch². */
  readonly numbers: number;
}

export function geometry(side: number, patch: number, channels: number): Geometry {
  const grid = side / patch;
  return { side, channels, patch, grid, places: grid * grid, numbers: channels * patch * patch };
}

/** The bundled model's: the pictures and the orders of patches in the address are made for it. */
export const digits = geometry(28, 4, 1);

/** Throws `unsupported` for pictures that are no square grid of square patches with 1 or 3 channels. */
export function geometryOf({ config }: PreTrainedModel): Geometry {
  const { image_size: side, patch_size: patch, num_channels: channels = 3 } = config as Record<string, unknown>;
  const square = Number.isInteger(side) && Number.isInteger(patch) && Number(side) % Number(patch) === 0;
  if (square && (channels === 1 || channels === 3)) return geometry(Number(side), Number(patch), channels);
  const sizes = `image_size ${JSON.stringify(side)}, patch_size ${JSON.stringify(patch)}, num_channels ${String(channels)}`;
  throw new ClearformerError('unsupported', `this chapter shows square grids of square patches: ${sizes}`);
}

/** The row and column of a patch's first pixel. */
export function cornerOf({ grid, patch }: Geometry, place: number): readonly [row: number, column: number] {
  return [Math.floor(place / grid) * patch, (place % grid) * patch];
}

/** The index in pixel_values of number `k` of a patch as a matrix [patch, channels · patch], channels side by side. */
export function pixelAt(shape: Geometry, place: number, k: number): number {
  const { side, channels, patch } = shape;
  const [top, left] = cornerOf(shape, place);
  const [row, column] = [Math.floor(k / (channels * patch)), k % (channels * patch)];
  const channel = Math.floor(column / patch);
  return channel * side * side + (top + row) * side + left + (column % patch);
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const unreadable = (what: string, text: string): ClearformerError =>
  new ClearformerError('invalid_argument', `${what} of the address can't be read: ${text.slice(0, 40)}`);

const all = ({ places }: Geometry): number[] => Array.from({ length: places }, (_, place) => place);

/**
 * Parses patch positions of the address: `11.12`, `none`, or `middle` for the middle quarter of the picture. Throws
 * `invalid_argument` for one outside the grid.
 */
export function placesFrom(shape: Geometry, text: string): number[] {
  if (text === 'middle') return middle(shape);
  const found = text === 'none' ? [] : text.split('.').filter(Boolean).map(Number);
  if (found.every((place) => Number.isInteger(place) && place >= 0 && place < shape.places)) return [...new Set(found)];
  throw unreadable('the hidden patches', text);
}

function middle(shape: Geometry): number[] {
  const { grid } = shape;
  const [from, count] = [Math.floor(grid / 4), Math.ceil(grid / 2)];
  const inside = (at: number): boolean => at >= from && at < from + count;
  return all(shape).filter((place) => inside(place % grid) && inside(Math.floor(place / grid)));
}

/**
 * Parses the patch at each position, a permutation: a letter each, or numbers `3.0.1` in grids of more than 64
 * patches; `none` or empty: the identity; `mixed`: an order far from it. Throws `invalid_argument` for anything else.
 */
export function orderFrom(shape: Geometry, text: string): number[] {
  const { places } = shape;
  if (text === '' || text === 'none') return all(shape);
  if (text === 'mixed') return mixed(shape);
  const order =
    places > letters.length ? text.split('.').map(Number) : Array.from(text, (letter) => letters.indexOf(letter));
  const whole = order.length === places && new Set(order).size === places;
  if (whole && order.every((patch) => Number.isInteger(patch) && patch >= 0 && patch < places)) return order;
  throw unreadable('the order of patches', text);
}

/** Steps of about 0.618 of the grid, from which neighbours come to lie far apart. */
function mixed(shape: Geometry): number[] {
  const { places } = shape;
  let step = Math.max(1, Math.round(places * 0.618));
  while (commonDivisor(step, places) > 1) step++;
  return all(shape).map((place) => ((place + 1) * step) % places);
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));

/** Undefined for the identity. */
export function orderText({ places }: Geometry, order: readonly number[]): string | undefined {
  if (order.every((patch, place) => patch === place)) return undefined;
  return places > letters.length ? order.join('.') : order.map((patch) => letters[patch]).join('');
}

/** pixel_values with the patches permuted, then some positions filled with `blank`, a value per channel. */
export function rearranged(
  shape: Geometry,
  pixels: ArrayLike<number>,
  order: readonly number[],
  hidden: readonly number[],
  blank: readonly number[],
): Float32Array {
  const { numbers, side } = shape;
  const result = new Float32Array(pixels.length);
  const filled = new Set(hidden);
  order.forEach((patch, place) => {
    for (let k = 0; k < numbers; k++) {
      const to = pixelAt(shape, place, k);
      const kept = filled.has(place) ? blank[Math.floor(to / (side * side))] : pixels[pixelAt(shape, patch, k)];
      result[to] = kept ?? 0;
    }
  });
  return result;
}
