// Weights in fewer bits, as onnxruntime's own tools make them.

/** int8, symmetric, one scale for the whole matrix: what its dynamic quantisation emits for signed weights. */
export function toInt8(data) {
  let largest = 0;
  for (const value of data) largest = Math.max(largest, Math.abs(value));
  const scale = largest / 127 || 1;
  const values = new Int8Array(data.length);
  for (let i = 0; i < data.length; i += 1) values[i] = Math.round(data[i] / scale);
  return { values, scale };
}

export const BLOCK = 32;

/**
 * 4 bits, symmetric, blocks of 32 along K, for MatMulNBits: of a matrix (K, N) in rows, the values (N, K / 32, 16), the
 * earlier in the lower half of each byte, and the scales (N, K / 32). A value q stands for (q - 8) · scale.
 */
export function toInt4(data, k, n) {
  if (k % BLOCK !== 0) throw new Error(`toInt4: K is ${k}, no multiple of ${BLOCK}`);
  const blocks = k / BLOCK;
  const values = new Uint8Array((n * k) / 2);
  const scales = new Float32Array(n * blocks);
  for (let column = 0; column < n; column += 1) {
    for (let block = 0; block < blocks; block += 1) {
      const index = column * blocks + block;
      scales[index] = packBlock(data, block * BLOCK * n + column, n, values.subarray(index * 16, index * 16 + 16));
    }
  }
  return { values, scales };
}

function packBlock(data, from, stride, to) {
  let extreme = 0;
  for (let i = 0; i < BLOCK; i += 1) {
    const value = data[from + i * stride];
    if (Math.abs(value) > Math.abs(extreme)) extreme = value;
  }
  const scale = extreme / -8 || 1;
  for (let i = 0; i < BLOCK; i += 1) {
    const value = Math.min(15, Math.max(0, Math.round(data[from + i * stride] / scale) + 8));
    to[i >> 1] |= i % 2 === 0 ? value : value << 4;
  }
  return scale;
}

/** (rows, columns) -> (columns, rows) */
export function transposed(data, rows, columns) {
  const result = new Float32Array(data.length);
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1) result[column * rows + row] = data[row * columns + column];
  return result;
}
