// Concatenates the results of batches.

import { Tensor } from '../tensor/tensor.js';

/** Concatenates tensors along the first axis. */
export function joinedRows(parts: readonly Tensor<'float32'>[]): Tensor<'float32'> {
  const inner = parts[0]?.dims.slice(1) ?? [];
  const rows = parts.reduce((sum, { dims }) => sum + (dims[0] ?? 0), 0);
  const data = new Float32Array(parts.reduce((sum, { size }) => sum + size, 0));
  let start = 0;
  for (const part of parts) {
    data.set(part.data, start);
    start += part.size;
  }
  return new Tensor('float32', data, [rows, ...inner]);
}
