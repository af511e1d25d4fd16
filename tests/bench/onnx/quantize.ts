// Quantised weights, as made by onnxruntime's own tools.

/** int8, symmetric, one scale for the whole matrix: what its dynamic quantisation emits for signed weights. */
export function toInt8(data: Float32Array): { values: Int8Array; scale: number } {
  let largest = 0;
  for (const value of data) largest = Math.max(largest, Math.abs(value));
  const scale = largest / 127 || 1;
  const values = new Int8Array(data.length);
  for (const [i, value] of data.entries()) values[i] = Math.round(value / scale);
  return { values, scale };
}

export const blockSize = 32;

/**
 * 4 bits, symmetric, blocks of 32 along K, for MatMulNBits: for a row-major matrix (K, N), the values (N, K / 32, 16),
 * with the earlier one in the lower half of each byte, and the scales (N, K / 32). A value q represents (q - 8) ·
 * scale.
 */
export function toInt4(data: Float32Array, k: number, n: number): { values: Uint8Array; scales: Float32Array } {
  if (k % blockSize !== 0) throw new Error(`toInt4: K is ${k}, no multiple of ${blockSize}`);
  const blocks = k / blockSize;
  const values = new Uint8Array((n * k) / 2);
  const scales = new Float32Array(n * blocks);
  for (let column = 0; column < n; column += 1) {
    for (let block = 0; block < blocks; block += 1) {
      const index = column * blocks + block;
      scales[index] = packBlock(data, block * blockSize * n + column, n, values.subarray(index * 16, index * 16 + 16));
    }
  }
  return { values, scales };
}

function packBlock(data: Float32Array, from: number, stride: number, to: Uint8Array): number {
  const valueAt = (i: number): number => data[from + i * stride] ?? 0;
  let extreme = 0;
  for (let i = 0; i < blockSize; i += 1) {
    const value = valueAt(i);
    if (Math.abs(value) > Math.abs(extreme)) extreme = value;
  }
  const scale = extreme / -8 || 1;
  for (let i = 0; i < blockSize; i += 1) {
    const value = Math.min(15, Math.max(0, Math.round(valueAt(i) / scale) + 8));
    to[i >> 1] = (to[i >> 1] ?? 0) | (i % 2 === 0 ? value : value << 4);
  }
  return scale;
}

/** (rows, columns) -> (columns, rows) */
export function transposed(data: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(data.length);
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1) result[column * rows + row] = data[row * columns + column] ?? 0;
  return result;
}
