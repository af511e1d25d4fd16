// The inputs of all contenders: numbers computed from their index, so that all languages make the same.

import type { Sample } from '../types.js';
/** Token ids of `batch` rows. */
export function tokenRows(batch: number, length: number, vocabulary: number): number[][] {
  return Array.from({ length: batch }, (_, row) =>
    Array.from({ length }, (_, place) => (place * 7919 + 13 * (row + 1)) % vocabulary),
  );
}

/** Values in [-1, 1). */
export function values(count: number, phase = 0): Float32Array {
  const result = new Float32Array(count);
  for (let i = 0; i < count; i += 1) result[i] = (Math.imul(i + phase, 0x9e3779b1) >> 8) / 0x800000;
  return result;
}

/** At most 4096 of the values, evenly spaced, and their number: enough for a comparison. */
export function sampled(data: ArrayLike<number | bigint>): Sample {
  const stride = Math.max(1, Math.floor(data.length / 4096));
  const picked: number[] = [];
  for (let i = 0; i < data.length; i += stride) picked.push(Number(data[i]));
  return { count: data.length, picked };
}
