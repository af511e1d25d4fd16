// Elements of an n-dimensional array in row-major order: their number, their offsets, the largest.

import type { TensorData, TensorType } from '../runtime/border.js';
import { ClearformerError, textOf } from '../support/error.js';

/** The sum of all elements, in double precision. */
export function total(row: TensorData[TensorType]): number {
  return (row as Float32Array).reduce((sum, value) => sum + value, 0);
}

/** The index of the first largest element (sign 1) or the first smallest one (-1); the first NaN takes precedence. */
export function best(call: string, row: TensorData[TensorType], sign: 1 | -1): number {
  if (row.length === 0) throw new ClearformerError('shape_mismatch', `Tensor.${call}: there are no elements`);
  let found = 0;
  for (let i = 1; i < row.length && !Number.isNaN(row[found]); i++) {
    const [value, held] = [row[i] as number, row[found] as number];
    if (Number.isNaN(value) || (sign > 0 ? value > held : value < held)) found = i;
  }
  return found;
}

/** The offsets of the elements of a tensor of `dims` in data with these strides, starting at `first`. */
export function offsets(dims: readonly number[], steps: readonly number[], first = 0): Int32Array {
  let found = Int32Array.of(first);
  dims.forEach((extent, axis) => {
    const starts = found;
    found = new Int32Array(starts.length * extent);
    let to = 0;
    for (const start of starts) for (let i = 0; i < extent; i++) found[to++] = start + i * (steps[axis] as number);
  });
  return found;
}

/** Gathers the elements at these offsets into an array of the same kind. */
export function taken<Data extends TensorData[TensorType]>(data: Data, from: Int32Array): Data {
  const copy = new (data.constructor as Float32ArrayConstructor)(from.length);
  for (let i = 0; i < copy.length; i++) copy[i] = data[from[i] as number] as number;
  return copy as unknown as Data;
}

/** (Σ |x|^p)^(1/p), for p = ±∞ the largest and the smallest |x|, for 0 the number of those that are not 0. */
export function normOf(row: Float32Array, p: number): number {
  const sizes = row.map(Math.abs);
  if (Math.abs(p) === Number.POSITIVE_INFINITY) return sizes[best('norm', sizes, p > 0 ? 1 : -1)] as number;
  if (p === 0) return sizes.filter((size) => size !== 0).length;
  return sizes.reduce((sum, size) => sum + size ** p, 0) ** (1 / p);
}

/** Number of elements of a shape; 1 for a scalar. Throws `invalid_argument` for anything but integers >= 0. */
export function elementCount(dims: readonly number[]): number {
  if (dims?.every?.((extent) => Number.isSafeInteger(extent) && extent >= 0)) return dims.reduce((a, b) => a * b, 1);
  throw new ClearformerError('invalid_argument', `dims must be whole numbers from 0, got ${listed(dims)}`);
}

/** Number of elements of an array to be allocated. Throws `out_of_memory` for more than 2^30. */
export function allocatedCount(what: string, dims: readonly number[]): number {
  const count = elementCount(dims);
  if (count <= 2 ** 30) return count;
  throw new ClearformerError('out_of_memory', `${what}: [${dims.join(', ')}] has more than ${2 ** 30} elements`);
}

/**
 * What the other of two operands is combined with: the elements of each, broadcast to the dims of both; null if they do
 * not fit.
 */
export function broadcast<Data extends TensorData[TensorType]>(
  left: Elements<Data>,
  right: Elements<Data>,
): { dims: number[]; pair: [Data, Data] } | null {
  const rank = Math.max(left.dims.length, right.dims.length);
  const [a, b] = [left, right].map(({ dims }) => [...new Array<number>(rank - dims.length).fill(1), ...dims]);
  const [own, other] = [a as number[], b as number[]];
  const dims = own.map((extent, axis) => (extent === 1 ? (other[axis] as number) : extent));
  if (other.some((extent, axis) => extent !== 1 && extent !== dims[axis])) return null;
  const part = ({ data }: Elements<Data>, from: number[]) => {
    const steps = from.map((extent, axis) => (extent === 1 ? 0 : elementCount(from.slice(axis + 1))));
    return taken(data, offsets(dims, steps));
  };
  return { dims, pair: [part(left, own), part(right, other)] };
}

interface Elements<Data> {
  data: Data;
  dims: readonly number[];
}

/** A list, or what is there in its place, for a message. */
export const listed = (given: unknown): string =>
  Array.isArray(given) ? `[${given.map(textOf).join(', ')}]` : textOf(given);

/** A half-open range of indices. */
type Range = readonly [start: number, end: number];

/** The range of an axis that one argument of `slice` selects. */
export function rangeOf(
  part: number | readonly [number | null, number | null] | null,
  extent: number,
  axis: number,
): Range {
  const [from, to] = Array.isArray(part) && part.length === 2 ? part : [part as number | null, null];
  const resolve = (index: number) => (Number.isInteger(index) && index < 0 ? index + extent : index);
  const start = from === null ? 0 : resolve(from);
  const last = typeof part === 'number' ? start + 1 : to === null ? extent : resolve(to);
  if (!Number.isInteger(start) || !Number.isInteger(last) || start < 0 || last > extent || start > last) {
    const message = `Tensor.slice: ${listed(part)} is no index or range of axis ${axis}, of extent ${extent}`;
    throw new ClearformerError('invalid_argument', message);
  }
  return [start, last];
}
