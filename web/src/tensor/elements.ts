// Elements of an n-dimensional array in row-major order: their number, their offsets, the largest.

import type { TensorData, TensorType } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';

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

/** Number of elements of a shape; 1 for a scalar. Throws `invalid_argument` for anything but integers >= 0. */
export function elementCount(dims: readonly number[]): number {
  return dims.reduce((count, extent) => {
    if (!Number.isSafeInteger(extent) || extent < 0) {
      throw new ClearformerError('invalid_argument', `dims must be whole numbers from 0, got [${dims.join(', ')}]`);
    }
    return count * extent;
  }, 1);
}

/** A half-open range of indices. */
type Range = readonly [start: number, end: number];

/** The range of an axis that one argument of `slice` selects. */
export function rangeOf(part: number | readonly [number, number | null] | null, extent: number, axis: number): Range {
  const resolve = (index: number) => (index < 0 ? index + extent : index);
  const start = part === null ? 0 : resolve(typeof part === 'number' ? part : part[0]);
  const last = typeof part === 'number' ? start + 1 : part === null || part[1] === null ? extent : resolve(part[1]);
  if (!Number.isInteger(start) || !Number.isInteger(last) || start < 0 || last > extent || start > last) {
    throw new ClearformerError(
      'invalid_argument',
      `Tensor.slice: ${JSON.stringify(part)} is outside axis ${axis} of extent ${extent}`,
    );
  }
  return [start, last];
}
