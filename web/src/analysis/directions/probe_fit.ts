// The fits of linear probes, in float64; their objectives are in linear_probe.ts. Loaded with the first fit.

import { ClearformerError } from '../../support/error.js';
import type { FeatureRows } from './features.js';
import { gram, meanRow, solvePositive, symmetricEigen } from './linear_algebra.js';
import { dot, logSumExp, type ReadOuts, readOuts, softplus } from './read_out.js';

const refused = (option: string, why: string) =>
  new ClearformerError('invalid_argument', `LinearProbe: ${why}`, { option });

interface Fitted {
  w: Float64Array;
  b: number;
}

/** The optimum; `weight` is C or α. Throws `invalid_argument` for labels that leave none. */
export function fitted(kind: string, data: FeatureRows, labels: readonly number[], weight: number): ReadOuts {
  if (kind === 'softmax') return softmax(data, labels, weight);
  const { w, b } = kind === 'ridge' ? ridge(data, labels, weight) : logistic(data, labels, weight);
  return { weights: w, biases: Float64Array.of(b) };
}

/** Centred, and if there are fewer rows than features, in coordinates of the space that the rows span. */
function reduced({ rows, count, width }: FeatureRows) {
  const mean = meanRow(rows, count, width);
  const centred = rows.map((value, at) => value - (mean[at % width] as number));
  const whole = (w: Float64Array, b: number): Fitted => ({ w, b: b - dot(mean, 0, w) });
  if (count >= width) return { z: centred, dims: width, whole };
  const { values, vectors } = symmetricEigen(gram(centred, count, count === 0 ? 0 : width), count);
  const dims = values.findIndex((value) => !(value > (values[0] as number) * 1e-13));
  const kept = dims === -1 ? count : dims;
  const basis = new Float64Array(kept * width); // orthonormal rows
  for (let k = 0; k < kept; k++) {
    for (let row = 0; row < count; row++) {
      const share = (vectors[k * count + row] as number) / Math.sqrt(values[k] as number);
      for (let i = 0; i < width; i++) {
        basis[k * width + i] = (basis[k * width + i] as number) + share * (centred[row * width + i] as number);
      }
    }
  }
  const z = Float64Array.from({ length: count * kept }, (_, at) => {
    const [row, k] = [Math.floor(at / kept), at % kept];
    return dot(centred, row * width, basis.subarray(k * width, (k + 1) * width));
  });
  const expand = (w: Float64Array) =>
    Float64Array.from({ length: width }, (_, i) =>
      w.reduce((sum, value, k) => sum + value * (basis[k * width + i] as number), 0),
    );
  return { z, dims: kept, whole: (w: Float64Array, b: number) => whole(expand(w), b) };
}

function ridge(data: FeatureRows, labels: readonly number[], alpha: number): Fitted {
  const { z, dims, whole } = reduced(data);
  const middle = labels.reduce((sum, label) => sum + label, 0) / labels.length;
  const normal = new Float64Array(dims * dims);
  const right = new Float64Array(dims);
  labels.forEach((label, row) => {
    for (let i = 0; i < dims; i++) {
      const x = z[row * dims + i] as number;
      right[i] = (right[i] as number) + x * (label - middle);
      for (let j = 0; j < dims; j++)
        normal[i * dims + j] = (normal[i * dims + j] as number) + x * (z[row * dims + j] as number);
    }
  });
  for (let i = 0; i < dims; i++) normal[i * dims + i] = (normal[i * dims + i] as number) + alpha;
  const w = solvePositive(normal, right, dims);
  if (w === undefined) throw refused('alpha', 'the features depend on each other: alpha must be above 0');
  return whole(w, middle);
}

const mostSteps = 100;

/** Newton's method with halved steps where the loss would rise; the last coordinate is b. */
function logistic(data: FeatureRows, labels: readonly number[], C: number): Fitted {
  if (!labels.includes(0) || !labels.includes(1))
    throw refused('labels', 'labels of both classes, 0 and 1, are needed');
  const { z, dims, whole } = reduced(data);
  const size = dims + 1;
  const x = (row: number, i: number) => (i === dims ? 1 : (z[row * dims + i] as number));
  const marginOf = (w: Float64Array, row: number) => dot(z, row * dims, w.subarray(0, dims)) + (w[dims] as number);
  const lossOf = (w: Float64Array) =>
    labels.reduce((sum, label, row) => sum + C * softplus(label === 1 ? -marginOf(w, row) : marginOf(w, row)), 0) +
    w.subarray(0, dims).reduce((sum, value) => sum + value * value, 0) / 2;
  let w = new Float64Array(size);
  let loss = lossOf(w);
  for (let step = 0; step < mostSteps; step++) {
    const hessian = new Float64Array(size * size);
    const gradient = new Float64Array(size);
    for (let i = 0; i < dims; i++) {
      hessian[i * size + i] = 1;
      gradient[i] = w[i] as number;
    }
    labels.forEach((label, row) => {
      const p = 1 / (1 + Math.exp(-marginOf(w, row)));
      for (let i = 0; i < size; i++) {
        gradient[i] = (gradient[i] as number) + C * (p - label) * x(row, i);
        const own = C * p * (1 - p) * x(row, i);
        for (let j = 0; j < size; j++) hessian[i * size + j] = (hessian[i * size + j] as number) + own * x(row, j);
      }
    });
    const change = solvePositive(hessian, gradient, size);
    if (change === undefined) break; // all probabilities are 0 or 1
    let scale = 1;
    let next = w;
    let smaller = loss;
    for (; scale > 2 ** -30; scale /= 2) {
      next = w.map((value, i) => value - scale * (change[i] as number));
      smaller = lossOf(next);
      if (smaller <= loss) break;
    }
    const still = !(smaller < loss - Math.abs(loss) * 2 ** -52);
    if (smaller <= loss) [w, loss] = [next, smaller];
    if (still) break;
  }
  return whole(w.slice(0, dims), w[dims] as number);
}

/**
 * Newton's method, with steps that conjugate gradients find: products with the Hessian take no memory, whatever the
 * number of features and classes. The biases sum to 0, as the classes' weights do.
 */
function softmax({ rows, count, width }: FeatureRows, labels: readonly number[], C: number): ReadOuts {
  const classes = labels.reduce((most, label) => Math.max(most, label), 0) + 1;
  const missing = Array.from({ length: classes }, (_, k) => k).find((k) => !labels.includes(k));
  if (classes < 2 || missing !== undefined) {
    throw refused('labels', `labels of all classes from 0 on are needed, and of two at least; none is ${missing ?? 1}`);
  }
  const mean = meanRow(rows, count, width);
  const data = { rows: rows.map((value, at) => value - (mean[at % width] as number)), count, width };
  const size = classes * width;
  const parts = (p: Float64Array): ReadOuts => ({ weights: p.subarray(0, size), biases: p.subarray(size) });
  /**
   * The rows and a column of ones, transposed, times `d` [row, class]; plus the weights of `p`, and the sum of its biases,
   * which the loss does not depend on: that of ½(Σ b)² is held at 0.
   */
  const collected = (d: Float64Array, p: Float64Array): Float64Array => {
    const sum = p.subarray(size).reduce((total, b) => total + b, 0);
    const all = p.map((value, at) => (at < size ? value : sum));
    for (let row = 0; row < count; row++) {
      for (let k = 0; k < classes; k++) {
        const share = C * (d[row * classes + k] as number);
        all[size + k] = (all[size + k] as number) + share;
        for (let i = 0; i < width; i++) {
          const at = k * width + i;
          all[at] = (all[at] as number) + share * (data.rows[row * width + i] as number);
        }
      }
    }
    return all;
  };
  const state = (p: Float64Array) => {
    const scores = readOuts(data, parts(p));
    let loss = dot(p, 0, p.subarray(0, size)) / 2;
    const probabilities = scores.slice();
    labels.forEach((label, row) => {
      const own = scores.subarray(row * classes, (row + 1) * classes);
      const total = logSumExp(own);
      loss += C * (total - (own[label] as number));
      for (let k = 0; k < classes; k++) probabilities[row * classes + k] = Math.exp((own[k] as number) - total);
    });
    return { p, loss, probabilities };
  };
  let now = state(new Float64Array(size + classes));
  let first = 0;
  for (let step = 0; step < mostSteps; step++) {
    const { p, probabilities, loss } = now;
    const wrong = probabilities.map((value, at) => value - Number(labels[Math.floor(at / classes)] === at % classes));
    const gradient = collected(wrong, p);
    const curved = (v: Float64Array) => {
      const change = readOuts(data, parts(v));
      for (let row = 0; row < count; row++) {
        const [from, to] = [row * classes, (row + 1) * classes];
        const middle = dot(change, from, probabilities.subarray(from, to));
        for (let at = from; at < to; at++) {
          change[at] = (probabilities[at] as number) * ((change[at] as number) - middle);
        }
      }
      return collected(change, v);
    };
    const norm = Math.sqrt(dot(gradient, 0, gradient));
    first ||= norm;
    const change = conjugateGradients(curved, gradient, Math.min(0.1, norm / first));
    let next = now;
    for (let scale = 1; scale > 2 ** -30; scale /= 2) {
      next = state(p.map((value, at) => value - scale * (change[at] as number)));
      if (next.loss <= loss) break;
    }
    if (next.loss <= loss) now = next;
    if (!(next.loss < loss - Math.abs(loss) * 2 ** -52)) break;
  }
  const { weights, biases } = parts(now.p);
  return { weights, biases: biases.map((b, k) => b - dot(mean, 0, weights.subarray(k * width, (k + 1) * width))) };
}

/** x with A·x = b for a positive semidefinite A, until the residual is `tolerance` of b. */
function conjugateGradients(
  product: (v: Float64Array) => Float64Array,
  b: Float64Array,
  tolerance: number,
): Float64Array {
  const x = new Float64Array(b.length);
  const residual = b.slice();
  let direction = b.slice();
  const whole = dot(b, 0, b);
  let left = whole;
  for (let step = 0; step < 2 * b.length && left > Math.max(tolerance ** 2, 2 ** -90) * whole; step++) {
    const turned = product(direction);
    const curvature = dot(direction, 0, turned);
    if (!(curvature > 0)) break;
    const length = left / curvature;
    for (let i = 0; i < x.length; i++) {
      x[i] = (x[i] as number) + length * (direction[i] as number);
      residual[i] = (residual[i] as number) - length * (turned[i] as number);
    }
    const before = left;
    left = dot(residual, 0, residual);
    direction = residual.map((value, i) => value + (left / before) * (direction[i] as number));
  }
  return x;
}
