// The cosine of the angle between two vectors, by the package's products.

import { matmul, type Tensor } from 'clearformer';

export async function cosine(one: Tensor<'float32'>, other: Tensor<'float32'>): Promise<number> {
  const rows = new Float32Array([...one.data, ...other.data]);
  const columns = new Float32Array(rows.length);
  rows.forEach((value, i) => {
    columns[(i % one.size) * 2 + Math.floor(i / one.size)] = value;
  });
  const products = await matmul({ data: rows, dims: [2, one.size] }, { data: columns, dims: [one.size, 2] });
  const [a = 0, ab = 0, , b = 0] = products.data;
  return ab / Math.sqrt(a * b);
}
