// Linear read-outs of rows of features, in float64, and their losses.

import type { FeatureRows } from './features.js';

/** Weights [read-out, feature] and a bias each; one read-out, or one for each class. */
export interface ReadOuts {
  weights: Float64Array;
  biases: Float64Array;
}

/** log(1 + exp(x)) */
export const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/** The product of a row that begins at `from` with a vector. */
export function dot(rows: Float64Array, from: number, w: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < w.length; i++) sum += (rows[from + i] as number) * (w[i] as number);
  return sum;
}

/** w·x + b, [row, read-out]. */
export function readOuts({ rows, count, width }: FeatureRows, { weights, biases }: ReadOuts): Float64Array {
  const outputs = biases.length;
  const each = Array.from(biases, (_, k) => weights.subarray(k * width, (k + 1) * width));
  return Float64Array.from({ length: count * outputs }, (_, at) => {
    const [row, k] = [Math.floor(at / outputs), at % outputs];
    return (biases[k] as number) + dot(rows, row * width, each[k] as Float64Array);
  });
}

/** log Σ exp(scores) */
export function logSumExp(scores: Float64Array): number {
  const most = scores.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
  return most + Math.log(scores.reduce((sum, score) => sum + Math.exp(score - most), 0));
}
