// Linear probes: read-outs of an activation, fitted to labels. The activations of a data set are reduced to one vector a
// sequence where the model runs; the fit is exact, in float64.
//   logistic: min ½|w|² + C·Σ log(1 + exp(-s·(w·x + b))),  s = ±1    (sklearn's LogisticRegression), by Newton's method
//   ridge:    min Σ (w·x + b - y)² + α·|w|²                          (sklearn's Ridge), in closed form
// Source: Alain & Bengio 2016, arXiv 1610.01644.

import type { ActivationEdit } from '../../models/edits.js';
import type { ReadOutTerm } from '../../models/gradient_metric.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import type { HookName } from '../../runtime/hook_names.js';
import { ClearformerError, textOf } from '../../support/error.js';
import { checkOptions } from '../../support/options.js';
import { Tensor } from '../../tensor/tensor.js';
import type { SweepProgress } from '../sweep/sweep.js';
import { type FeatureRows, featuresAt, type ProbedInput, vector } from './features.js';
import { gram, meanRow, solvePositive, symmetricEigen } from './linear_algebra.js';

/** What a probe reads, and how it is fitted. */
export interface LinearProbeOptions {
  /** The hook point, such as `blocks.2.hook_resid_post`. */
  hook: HookName;
  /** The position of each sequence that is read (-1: the last that is not padding). */
  pos?: number | undefined;
  /** The head, of hooks that have heads. */
  head?: number | undefined;
  /** `logistic` (default) tells two classes apart, labels 0 and 1; `ridge` predicts numbers. */
  kind?: 'logistic' | 'ridge' | undefined;
  /** Of `logistic`: the weight of the data against the size of the weights (1). */
  C?: number | undefined;
  /** Of `ridge`: the weight of the weights' size (1). */
  alpha?: number | undefined;
  /** An abort signal: the call rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** Called after each of the inputs. */
  progress?: ((progress: SweepProgress) => void) | undefined;
}

/** How well a probe does. */
export interface ProbeScore {
  /** The mean log loss, or the mean of the squared errors. */
  loss: number;
  /** The share of right classes; of `ridge` the share of the variance that is explained (R²). */
  score: number;
}

const call = 'LinearProbe';
const refused = (option: string, why: string) =>
  new ClearformerError('invalid_argument', `${call}: ${why}`, { option });

/** A linear read-out of an activation, w·x + b. */
export class LinearProbe {
  /** What it reads, and how it was fitted. */
  readonly options: Readonly<LinearProbeOptions>;
  /** w [feature] */
  readonly weights: Tensor<'float32'>;
  readonly bias: number;

  /** A probe with known weights, such as those of a file. */
  constructor(options: LinearProbeOptions, weights: Tensor<'float32'>, bias = 0) {
    this.options = checked(options);
    if (!(weights instanceof Tensor) || weights.dims.length !== 1) throw refused('weights', 'weights are one axis');
    this.weights = weights;
    this.bias = bias;
  }

  /**
   * Fits a probe to labels, one for each sequence of the inputs (texts, or inputs of the model, which may be batches).
   * The same data give the same probe. Rejects with `invalid_argument` for labels that do not fit, and as `run_with_cache` does.
   */
  static async fit(
    model: PreTrainedModel,
    inputs: readonly ProbedInput[],
    labels: readonly number[],
    options: LinearProbeOptions,
  ): Promise<LinearProbe> {
    const given = checked(options);
    const data = await featuresOf(model, inputs, labels, given);
    const fitted =
      given.kind === 'ridge' ? ridge(data, labels, given.alpha ?? 1) : logistic(data, labels, given.C ?? 1);
    return new LinearProbe(given, vector(fitted.w), fitted.b);
  }

  /** w·x + b of each sequence; positive for class 1. */
  async predict(model: PreTrainedModel, inputs: readonly ProbedInput[]): Promise<Tensor<'float32'>> {
    return vector(this.#read(await featuresOf(model, inputs, undefined, this.options)));
  }

  /** How well it does on other sequences. Rejects like `fit`. */
  async evaluate(
    model: PreTrainedModel,
    inputs: readonly ProbedInput[],
    labels: readonly number[],
  ): Promise<ProbeScore> {
    const found = this.#read(await featuresOf(model, inputs, labels, this.options));
    const mean = (of: (value: number, label: number) => number) =>
      labels.reduce((sum, label, at) => sum + of(found[at] as number, label), 0) / labels.length;
    if (this.options.kind !== 'ridge') {
      const loss = mean((value, label) => softplus(label === 1 ? -value : value));
      return { loss, score: mean((value, label) => Number(value > 0 === (label === 1))) };
    }
    const middle = mean((_, label) => label);
    const loss = mean((value, label) => (value - label) ** 2);
    return { loss, score: 1 - loss / mean((_, label) => (label - middle) ** 2) };
  }

  /** The unit vector along w, for steering. */
  get direction(): Tensor<'float32'> {
    return this.weights.div(this.weights.norm().item());
  }

  /**
   * Edits along the direction, for `run_with_hooks` and `generate`: `add` adds `strength` times it (1), `project_out`
   * removes it. At all positions, or at `pos`.
   */
  edits({ op = 'add', strength = 1, pos }: ProbeEditOptions = {}): ActivationEdit[] {
    const { hook, head } = this.options;
    const value = op === 'add' ? this.direction.mul(strength) : this.direction;
    return [{ hook, op, value, ...(head !== undefined && { head }), ...(pos !== undefined && { pos }) }];
  }

  /** w·x as the metric of `backward`, for one sequence of so many positions. */
  metric(length: number): ReadOutTerm {
    const { hook, head, pos = -1 } = this.options;
    if (head !== undefined)
      throw new ClearformerError('unsupported', `${call}.metric: not of a head`, { option: 'head' });
    const at = pos < 0 ? length + pos : pos;
    if (!Number.isInteger(length) || at < 0 || at >= length) throw refused('length', `no position ${pos} of ${length}`);
    const width = this.weights.size;
    const weights = new Float32Array(length * width);
    weights.set(this.weights.data, at * width);
    return { hook, weights: new Tensor('float32', weights, [1, length, width]) };
  }

  #read({ rows, count, width }: FeatureRows): Float64Array {
    if (width !== this.weights.size) {
      const problem = `${call}: ${this.weights.size} weights, and ${this.options.hook} has ${width} features`;
      throw new ClearformerError('shape_mismatch', problem, { option: 'hook' });
    }
    const w = Float64Array.from(this.weights.data);
    return Float64Array.from({ length: count }, (_, row) => this.bias + dot(rows, row * width, w));
  }
}

/** Options of `edits`. */
export interface ProbeEditOptions {
  op?: 'add' | 'project_out' | undefined;
  strength?: number | undefined;
  pos?: number | readonly number[] | undefined;
}

function checked(options: LinearProbeOptions): LinearProbeOptions {
  checkOptions(call, options ?? null, ['hook', 'pos', 'head', 'kind', 'C', 'alpha', 'signal', 'progress']);
  const { kind = 'logistic', C = 1, alpha = 1, pos = -1 } = options;
  if (typeof options.hook !== 'string') throw refused('hook', `hook is ${textOf(options.hook)}, not the name of one`);
  if (kind !== 'logistic' && kind !== 'ridge') {
    const known = `unknown kind ${textOf(kind)} (known: logistic, ridge)`;
    throw new ClearformerError('unsupported', `${call}: ${known}`, { option: 'kind' });
  }
  if (!(C > 0) || !Number.isFinite(C)) throw refused('C', `C is ${textOf(C)}, not above 0`);
  if (!(alpha >= 0) || !Number.isFinite(alpha)) throw refused('alpha', `alpha is ${textOf(alpha)}, not 0 or above`);
  if (!Number.isInteger(pos)) throw refused('pos', `pos is ${textOf(pos)}, no position`);
  return { ...options, kind, pos };
}

async function featuresOf(
  model: PreTrainedModel,
  inputs: readonly ProbedInput[],
  labels: readonly number[] | undefined,
  { hook, pos = -1, head, kind, signal, progress }: LinearProbeOptions,
): Promise<FeatureRows> {
  const valid = (label: unknown) => (kind === 'ridge' ? Number.isFinite(label) : label === 0 || label === 1);
  const wrong = labels?.find((label) => !valid(label));
  if (wrong !== undefined) throw refused('labels', `${textOf(wrong)} is no ${kind === 'ridge' ? 'number' : '0 or 1'}`);
  const found = await featuresAt(call, model, inputs, { hooks: [hook], pos, head, signal, progress });
  const rows = found.get(hook) as FeatureRows;
  if (labels !== undefined && labels.length !== rows.count) {
    throw refused('labels', `${labels.length} labels for ${rows.count} sequences`);
  }
  return rows;
}

interface Fitted {
  w: Float64Array;
  b: number;
}

const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

function dot(rows: Float64Array, from: number, w: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < w.length; i++) sum += (rows[from + i] as number) * (w[i] as number);
  return sum;
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
