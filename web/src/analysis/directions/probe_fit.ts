// The fits of linear probes and their read-outs, in float64; the objectives are in linear_probe.ts. Loaded with the
// first one.

import { ClearformerError } from '../../support/error.js';
import type { FeatureRows, ProbeScore } from './features.js';
import { gram, meanRow, solvePositive, symmetricEigen } from './linear_algebra.js';

const refused = (option: string, why: string) =>
  new ClearformerError('invalid_argument', `LinearProbe: ${why}`, { option });

/** Weights [read-out, feature] and a bias each; one read-out, or one for each class. */
export interface ReadOuts {
  weights: Float64Array;
  biases: Float64Array;
}

/** log(1 + exp(x)) */
const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/** The product of a row that begins at `from` with a vector. */
function dot(rows: Float64Array, from: number, w: Float64Array): number {
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
function logSumExp(scores: Float64Array): number {
  const most = scores.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
  return most + Math.log(scores.reduce((sum, score) => sum + Math.exp(score - most), 0));
}

/** log Σ exp of the scores of the classes; one score is that of class 1 against 0. */
const totalOf = (own: Float64Array) => (own.length === 1 ? softplus(own[0] as number) : logSumExp(own));
const scoreOf = (own: Float64Array, label: number) =>
  own.length === 1 ? label * (own[0] as number) : (own[label] as number);

/** How well read-outs [row, read-out] do. */
export function scored(kind: string, found: Float64Array, labels: readonly number[], outputs: number): ProbeScore {
  const mean = (of: (own: Float64Array, label: number) => number) =>
    labels.reduce((sum, label, row) => sum + of(found.subarray(row * outputs, (row + 1) * outputs), label), 0) /
    labels.length;
  if (kind === 'ridge') {
    const middle = mean((_, label) => label);
    const loss = mean(([value = 0], label) => (value - label) ** 2);
    return { loss, score: 1 - loss / mean((_, label) => (label - middle) ** 2) };
  }
  if (labels.some((label) => label >= Math.max(outputs, 2))) throw refused('labels', `labels of ${outputs} classes`);
  const best = (own: Float64Array) =>
    own.length === 1 ? Number((own[0] as number) > 0) : own.indexOf(Math.max(...own));
  const loss = mean((own, label) => totalOf(own) - scoreOf(own, label));
  return { loss, score: mean((own, label) => Number(best(own) === label)) };
}

interface Fitted {
  w: Float64Array;
  b: number;
}

/** The optimum; `weight` is C or α. Throws `invalid_argument` for labels that leave none. */
export function fitted(kind: string, data: FeatureRows, labels: readonly number[], weight: number): ReadOuts {
  if (kind !== 'ridge') return classified(data, labels, weight, kind === 'logistic');
  const { w, b } = ridge(data, labels, weight);
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

/** The loss of classes: the bias of one is against class 0; the biases of several sum to 0, as the weights do. */
class ClassLoss {
  readonly #data: FeatureRows;
  readonly #labels: readonly number[];
  readonly #C: number;
  readonly #classes: number;

  constructor(data: FeatureRows, labels: readonly number[], C: number, classes: number) {
    this.#data = data;
    this.#labels = labels;
    this.#C = C;
    this.#classes = classes;
  }

  /** How many weights and biases there are. */
  get size(): number {
    return this.#classes * (this.#data.width + 1);
  }

  /** The weights, and behind them the biases. */
  parts(p: Float64Array): ReadOuts {
    const weights = this.#classes * this.#data.width;
    return { weights: p.subarray(0, weights), biases: p.subarray(weights) };
  }

  /** The loss of parameters, and the probability of each class [row, class]. */
  at(p: Float64Array): LossAt {
    const classes = this.#classes;
    const probabilities = readOuts(this.#data, this.parts(p));
    let loss = dot(p, 0, this.parts(p).weights) / 2;
    this.#labels.forEach((label, row) => {
      const own = probabilities.subarray(row * classes, (row + 1) * classes);
      const total = totalOf(own);
      loss += this.#C * (total - scoreOf(own, label));
      for (let k = 0; k < classes; k++) own[k] = Math.exp((own[k] as number) - total);
    });
    return { p, loss, probabilities };
  }

  gradient({ p, probabilities }: LossAt): Float64Array {
    const classes = this.#classes;
    const right = (at: number) =>
      (this.#labels[Math.floor(at / classes)] as number) === (classes === 1 ? 1 : at % classes);
    return this.#collected(
      probabilities.map((value, at) => value - Number(right(at))),
      p,
    );
  }

  /** The product of the Hessian with a vector. */
  curved({ probabilities }: LossAt, v: Float64Array): Float64Array {
    const change = readOuts(this.#data, this.parts(v));
    for (let row = 0; row < this.#data.count; row++) {
      const [from, to] = [row * this.#classes, (row + 1) * this.#classes];
      const middle = dot(change, from, probabilities.subarray(from, to));
      for (let at = from; at < to; at++) change[at] = (probabilities[at] as number) * ((change[at] as number) - middle);
    }
    return this.#collected(change, v);
  }

  /**
   * The rows and a column of ones, transposed, times `d` [row, class]; plus the weights of `p`, and the sum of its biases,
   * which the loss of several classes does not depend on: that of ½(Σ b)² is held at 0.
   */
  #collected(d: Float64Array, p: Float64Array): Float64Array {
    const { rows, count, width } = this.#data;
    const classes = this.#classes;
    const size = classes * width;
    const sum = p.subarray(size).reduce((total, b) => total + b, 0);
    const all = p.map((value, at) => (at < size ? value : classes === 1 ? 0 : sum));
    for (let row = 0; row < count; row++) {
      for (let k = 0; k < classes; k++) {
        const share = this.#C * (d[row * classes + k] as number);
        all[size + k] = (all[size + k] as number) + share;
        for (let i = 0; i < width; i++) {
          const at = k * width + i;
          all[at] = (all[at] as number) + share * (rows[row * width + i] as number);
        }
      }
    }
    return all;
  }
}

interface LossAt {
  p: Float64Array;
  loss: number;
  probabilities: Float64Array;
}

function classified(
  { rows, count, width }: FeatureRows,
  labels: readonly number[],
  C: number,
  isOne: boolean,
): ReadOuts {
  const all = labels.reduce((most, label) => Math.max(most, label), 1) + 1;
  const missing = Array.from({ length: all }, (_, k) => k).find((k) => !labels.includes(k));
  if (missing !== undefined) throw refused('labels', `labels of all classes from 0 on are needed, none is ${missing}`);
  const mean = meanRow(rows, count, width);
  const data = { rows: rows.map((value, at) => value - (mean[at % width] as number)), count, width };
  const loss = new ClassLoss(data, labels, C, isOne ? 1 : all);
  const { weights, biases } = loss.parts(minimum(loss));
  return { weights, biases: biases.map((b, k) => b - dot(mean, 0, weights.subarray(k * width, (k + 1) * width))) };
}

/**
 * Newton's method, halved where the loss would rise, with steps that conjugate gradients find: products with the Hessian
 * take no memory, whatever the number of features and classes.
 */
function minimum(of: ClassLoss): Float64Array {
  let now = of.at(new Float64Array(of.size));
  let first = 0;
  for (let step = 0; step < mostSteps; step++) {
    const { p, loss } = now;
    const gradient = of.gradient(now);
    const norm = Math.sqrt(dot(gradient, 0, gradient));
    first ||= norm;
    const here = now;
    const change = conjugateGradients((v) => of.curved(here, v), gradient, Math.min(0.1, norm / first));
    let next = now;
    for (let scale = 1; scale > 2 ** -30; scale /= 2) {
      next = of.at(p.map((value, at) => value - scale * (change[at] as number)));
      if (next.loss <= loss) break;
    }
    if (next.loss <= loss) now = next;
    if (!(next.loss < loss - Math.abs(loss) * 2 ** -52)) break;
  }
  return now.p;
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
