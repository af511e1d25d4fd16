// Checks that contenders compute the same, on samples of their outputs.

import type { DType, Sample } from './types.js';

const fp32Tolerance = 1e-3; // of the largest value: different orders of summation through twelve layers
// Minimum cosine of the outputs, by the narrowest dtype of the two.
const narrowCosine: Readonly<Record<DType, number>> = { fp32: 1, fp16: 0.999, q8: 0.98, q4: 0.95 };

function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (const [i, x] of a.entries()) {
    const y = b[i] ?? Number.NaN;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return dot / Math.sqrt(aa * bb);
}

/** `values` minus their mean. */
function centred(values: readonly number[]): number[] {
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  return values.map((each) => each - mean);
}

export interface Comparison {
  agrees: boolean;
  how: string;
  cosine?: number;
}

/**
 * A sample compared with the reference's; with a `narrow` dtype only directions are compared. If a sample is known up to
 * a constant, both are compared without their means.
 */
export function compare(sample: Sample, reference: Sample, narrow: DType | undefined): Comparison {
  if (sample.count !== reference.count) {
    return { agrees: false, how: `${sample.count} values against ${reference.count}` };
  }
  const shifted = sample.shifted || reference.shifted;
  const [own, other] = [sample, reference].map(({ picked }) => (shifted ? centred(picked) : picked)) as [
    number[],
    number[],
  ];
  const value = cosine(own, other);
  if (narrow) return { agrees: value >= narrowCosine[narrow], how: `cosine ${value.toFixed(4)}`, cosine: value };
  const largest = other.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  const error = own.reduce((most, each, i) => Math.max(most, Math.abs(each - (other[i] ?? Number.NaN))), 0);
  const relative = error / largest;
  const how = `largest error ${relative.toExponential(1)} of the largest value`;
  return { agrees: relative <= fp32Tolerance, how, cosine: value };
}
