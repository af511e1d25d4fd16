// Do two contenders compute the same? Compared on samples of their outputs.

const FP32_TOLERANCE = 1e-3; // of the largest value: other orders of summation through twelve layers
// What is left of the direction of the outputs, by dtype of the narrowest side.
const NARROW_COSINE = { fp16: 0.999, q8: 0.98, q4: 0.95 };

function cosine(a, b) {
  let [dot, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    dot += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return dot / Math.sqrt(aa * bb);
}

/** { agrees, how } of a sample against the reference's; weights of a `narrow` dtype need only point the same way. */
export function compare(sample, reference, narrow) {
  if (sample.count !== reference.count) {
    return { agrees: false, how: `${sample.count} values against ${reference.count}` };
  }
  if (narrow) {
    const value = cosine(sample.picked, reference.picked);
    return { agrees: value >= NARROW_COSINE[narrow], how: `cosine ${value.toFixed(4)}` };
  }
  const largest = reference.picked.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  const error = sample.picked.reduce((most, each, i) => Math.max(most, Math.abs(each - reference.picked[i])), 0);
  const relative = error / largest;
  return { agrees: relative <= FP32_TOLERANCE, how: `largest error ${relative.toExponential(1)} of the largest value` };
}
