// Small things that figures do with tensors besides calling the package: other rows, columns or dimensions, and how far two are apart.

import { Tensor } from 'clearformer';

type Float = Tensor<'float32'>;

/** A tensor of these rows, all equally long. */
export function stacked(rows: readonly ArrayLike<number>[]): Float {
  const width = rows[0]?.length ?? 0;
  const data = new Float32Array(rows.length * width);
  rows.forEach((row, r) => {
    data.set(row, r * width);
  });
  return new Tensor('float32', data, [rows.length, width]);
}

/** Columns of [rows, columns], in this order. */
export function columnsOf({ dims, data }: Float, chosen: readonly number[]): Float {
  const [rows = 0, columns = 0] = dims;
  return stacked(Array.from({ length: rows }, (_, r) => chosen.map((c) => data[r * columns + c] ?? 0)));
}

/** The same numbers with other dimensions. */
export const reshaped = ({ data }: Float, dims: readonly number[]): Float => new Tensor('float32', data, dims);

/** The largest difference between numbers at the same place; NaN where one has more than the other. */
export function largestDifference(one: ArrayLike<number>, other: ArrayLike<number>): number {
  if (one.length !== other.length) return Number.NaN;
  let most = 0;
  for (let i = 0; i < one.length; i++) most = Math.max(most, Math.abs((one[i] ?? 0) - (other[i] ?? 0)));
  return most;
}
