// Small things that figures do with tensors besides calling the package: other rows, columns or dimensions, and how far apart or
// alike two are.

import { matmul, rms_norm, Tensor } from 'clearformer';

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

/** Rows and columns exchanged: a linear layer's [out, in] as the matrix that x is multiplied with. */
export function transposed({ data, dims }: Float): Float {
  const [rows = 0, columns = 0] = dims;
  const turned = new Float32Array(rows * columns);
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) turned[c * rows + r] = data[r * columns + c] ?? 0;
  return new Tensor('float32', turned, [columns, rows]);
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

/** Every row at the length √d, so that the products of rows are their cosines times d. */
export const ofOneLength = (rows: Float): Promise<Float> => rms_norm(rows, rows.dims[1] ?? 1, { eps: 0 });

/** The cosine of each of these rows (of one length) with each of the others: [rows, others]. */
export async function cosines(rows: Float, others: Float): Promise<Float> {
  const products = await matmul(rows, transposed(others));
  const d = rows.dims[1] ?? 1;
  return new Tensor(
    'float32',
    products.data.map((product) => product / d),
    products.dims,
  );
}
