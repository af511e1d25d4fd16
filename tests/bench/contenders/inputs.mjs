// What every contender is given: numbers that follow from their place, so that all languages make the same.

/** Token ids of `batch` rows. */
export function tokenRows(batch, length, vocabulary) {
  return Array.from({ length: batch }, (_, row) =>
    Array.from({ length }, (_, place) => (place * 7919 + 13 * (row + 1)) % vocabulary),
  );
}

/** Values in [-1, 1). */
export function values(count, phase = 0) {
  const result = new Float32Array(count);
  for (let i = 0; i < count; i += 1) result[i] = (Math.imul(i + phase, 0x9e3779b1) >> 8) / 0x800000;
  return result;
}

/** At most 4096 of the values, spread evenly, and their number: enough to compare. */
export function sampled(data) {
  const stride = Math.max(1, Math.floor(data.length / 4096));
  const picked = [];
  for (let i = 0; i < data.length; i += stride) picked.push(Number(data[i]));
  return { count: data.length, picked };
}
