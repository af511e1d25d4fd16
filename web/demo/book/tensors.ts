// Small tensor helpers of the figures: stacking, slicing, reshaping, and measures of difference and similarity.

import { matmul, rms_norm, Tensor } from 'clearformer';

type Float = Tensor<'float32'>;

/** A tensor of these rows, which have equal length. */
export function stacked(rows: readonly ArrayLike<number>[]): Float {
  const width = rows[0]?.length ?? 0;
  const data = new Float32Array(rows.length * width);
  rows.forEach((row, r) => {
    data.set(row, r * width);
  });
  return new Tensor('float32', data, [rows.length, width]);
}

/** Columns of [rows, columns] in the given order. */
export function columnsOf({ dims, data }: Float, chosen: readonly number[]): Float {
  const [rows = 0, columns = 0] = dims;
  return stacked(Array.from({ length: rows }, (_, r) => chosen.map((c) => data[r * columns + c] ?? 0)));
}

/** The transpose, e.g. a linear layer's [out, in] as the matrix that x is multiplied with. */
export function transposed({ data, dims }: Float): Float {
  const [rows = 0, columns = 0] = dims;
  const turned = new Float32Array(rows * columns);
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) turned[c * rows + r] = data[r * columns + c] ?? 0;
  return new Tensor('float32', turned, [columns, rows]);
}

/** The same data with other dimensions. */
export const reshaped = ({ data }: Float, dims: readonly number[]): Float => new Tensor('float32', data, dims);

/** The largest absolute elementwise difference; NaN if the lengths differ. */
export function largestDifference(one: ArrayLike<number>, other: ArrayLike<number>): number {
  if (one.length !== other.length) return Number.NaN;
  let most = 0;
  for (let i = 0; i < one.length; i++) most = Math.max(most, Math.abs((one[i] ?? 0) - (other[i] ?? 0)));
  return most;
}

/** Rows scaled to length √d, so that their dot products are cosines times d. */
export const ofOneLength = (rows: Float): Promise<Float> => rms_norm(rows, rows.dims[1] ?? 1, { eps: 0 });

/** The cosine similarity of each row with each of the others, all rows scaled by `ofOneLength`: [rows, others]. */
export async function cosines(rows: Float, others: Float): Promise<Float> {
  const products = await matmul(rows, transposed(others));
  const d = rows.dims[1] ?? 1;
  return new Tensor(
    'float32',
    products.data.map((product) => product / d),
    products.dims,
  );
}
