// Linear probes: read-outs of an activation, fitted to labels. The activations of a data set are reduced to one vector a
// sequence where the model runs; the fit is exact, in float64.
//   logistic: min ½|w|² + C·Σ log(1 + exp(-s·(w·x + b))),  s = ±1    (sklearn's LogisticRegression), by Newton's method
//   softmax:  min ½|W|² + C·Σ (log Σ_k exp(w_k·x + b_k) - (w_y·x + b_y))    (the same of several classes), by Newton's method
//   ridge:    min Σ (w·x + b - y)² + α·|w|²                          (sklearn's Ridge), in closed form
// Source: Alain & Bengio 2016, arXiv 1610.01644.

import type { ActivationEdit } from '../../models/edits.js';
import type { ReadOutTerm } from '../../models/gradient_metric.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import type { HookName } from '../../runtime/hook_names.js';
import { ClearformerError, textOf } from '../../support/error.js';
import { checkOptions, expectArgument, expectKnown } from '../../support/options.js';
import { loadPart } from '../../support/platform.js';
import { Tensor } from '../../tensor/tensor.js';
import { expectHook } from '../check_call.js';
import type { SweepProgress } from '../sweep/sweep.js';
import { type FeatureRows, featuresAt, type ProbedInput, type ProbeScore, vector } from './features.js';

/** What a probe reads, and how it is fitted. */
export interface LinearProbeOptions {
  /** The hook point, such as `blocks.2.hook_resid_post`. */
  hook: HookName;
  /** The position of each sequence that is read, none of padding (-1: the last). */
  pos?: number | undefined;
  /** The head, of hooks that have heads. */
  head?: number | undefined;
  /**
   * `logistic` (default) tells two classes apart, labels 0 and 1; `softmax` several, labels 0, 1, 2 and so on; `ridge`
   * predicts numbers.
   */
  kind?: 'logistic' | 'softmax' | 'ridge' | undefined;
  /** Of `logistic` and `softmax`: the weight of the data against the size of the weights (1). */
  C?: number | undefined;
  /** Of `ridge`: the weight of the weights' size (1). */
  alpha?: number | undefined;
  /** An abort signal: the call rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** Called after each of the inputs. */
  progress?: ((progress: SweepProgress) => void) | undefined;
}

const fitting = () => loadPart(() => import('./probe_fit.js')); // rarely needed

const call = 'LinearProbe';
const refused = (option: string, why: string) =>
  new ClearformerError('invalid_argument', `${call}: ${why}`, { option });

/** A linear read-out of an activation, w·x + b; with the kind `softmax` one for each class. */
export class LinearProbe {
  /** What it reads, and how it was fitted. */
  readonly options: Readonly<LinearProbeOptions>;
  /** w [feature]; of `softmax` [class, feature]. */
  readonly weights: Tensor<'float32'>;
  /** b; of `softmax` one for each class. */
  readonly bias: number | readonly number[];

  /** A probe with known weights, such as those of a file. */
  constructor(options: LinearProbeOptions, weights: Tensor<'float32'>, bias: number | readonly number[] = 0) {
    this.options = checked(options);
    const classes = this.options.kind === 'softmax' ? ['class', 'feature'] : ['feature'];
    if (!(weights instanceof Tensor) || weights.dims.length !== classes.length) {
      throw refused('weights', `weights are [${classes.join(', ')}]`);
    }
    this.weights = weights;
    this.bias = classes.length > 1 && typeof bias === 'number' ? Array(weights.dims[0]).fill(bias) : bias;
    const biases: unknown[] = [this.bias].flat();
    if (biases.length !== this.#outputs || !biases.every((one) => typeof one === 'number'))
      throw refused('bias', 'bias is one number for each read-out');
  }

  /**
   * Fits a probe to labels, one for each sequence of the inputs (texts, or inputs of the model, which may be batches).
   * The same data give the same probe. Rejects with `invalid_argument` for labels that do not fit, and as
   * `run_with_cache` does.
   */
  static async fit(
    model: PreTrainedModel,
    inputs: readonly ProbedInput[],
    labels: readonly number[],
    options: LinearProbeOptions,
  ): Promise<LinearProbe> {
    const given = checked(options);
    expectLabels(labels);
    const { signal, progress } = options;
    const data = await featuresOf(model, inputs, labels, { ...given, signal, progress });
    const { fitted } = await fitting();
    const { kind = 'logistic', alpha = 1, C = 1 } = given;
    const { weights, biases } = fitted(kind, data, labels, kind === 'ridge' ? alpha : C);
    if (kind !== 'softmax') return new LinearProbe(given, vector(weights), biases[0]);
    return new LinearProbe(given, vector(weights, [biases.length, data.width]), [...biases]);
  }

  /**
   * w·x + b of each sequence; positive for class 1. Of `softmax` [sequence, class], largest for the most probable
   * class.
   */
  async predict(model: PreTrainedModel, inputs: readonly ProbedInput[]): Promise<Tensor<'float32'>> {
    const found = await this.#read(await featuresOf(model, inputs, undefined, this.options));
    const outputs = this.#outputs;
    return vector(found, this.options.kind === 'softmax' ? [found.length / outputs, outputs] : [found.length]);
  }

  /** How well it does on other sequences. Rejects like `fit`. */
  async evaluate(
    model: PreTrainedModel,
    inputs: readonly ProbedInput[],
    labels: readonly number[],
  ): Promise<ProbeScore> {
    expectLabels(labels);
    const found = await this.#read(await featuresOf(model, inputs, labels, this.options));
    return (await fitting()).scored(this.options.kind ?? 'logistic', found, labels, this.#outputs);
  }

  /** The unit vector along w, for steering. Throws `unsupported` for `softmax`, see `directionOf`. */
  get direction(): Tensor<'float32'> {
    if (this.options.kind !== 'softmax') return unit(this.weights);
    throw new ClearformerError('unsupported', `${call}: softmax has a direction for each class: directionOf(label)`);
  }

  /** Of `softmax`: the unit vector along the weights of a class, which are those against the mean of all classes. */
  directionOf(label: number): Tensor<'float32'> {
    return unit(this.#weightsOf(label));
  }

  /**
   * Edits along the direction, for `run_with_hooks` and `generate`: `add` adds `strength` times it (1), `project_out`
   * removes it. At all positions, or at `pos`. Of `softmax` that of the class `label`; `project_out` without one removes
   * what tells the classes apart.
   */
  edits(options: ProbeEditOptions = {}): ActivationEdit[] {
    checkOptions(`${call}.edits`, options, ['op', 'strength', 'pos', 'label']);
    const { op = 'add', strength = 1, pos, label } = options;
    expectKnown(`${call}.edits`, 'op', op, ['add', 'project_out']);
    if (!Number.isFinite(strength)) throw refused('strength', `strength is ${textOf(strength)}, no number`);
    const { hook, head, kind } = this.options;
    if (op === 'project_out' && options.strength !== undefined) throw refused('strength', 'strength is of add');
    if (kind !== 'softmax' && label !== undefined) throw refused('label', 'label is of softmax');
    const all = kind === 'softmax' && op === 'project_out' && label === undefined;
    // The weights of all classes sum to 0: the last ones follow from the others.
    const along = () => (kind === 'softmax' ? this.directionOf(label as number) : this.direction);
    const value = all ? this.weights.slice([0, -1]) : op === 'add' ? along().mul(strength) : along();
    return [{ hook, op, value, ...(head !== undefined && { head }), ...(pos !== undefined && { pos }) }];
  }

  /** w·x as the metric of `backward`, for one sequence of so many positions; of `softmax` that of the class `label`. */
  metric(length: number, label?: number): ReadOutTerm {
    const { hook, head, pos = -1 } = this.options;
    if (head !== undefined)
      throw new ClearformerError('unsupported', `${call}.metric: not of a head`, { option: 'head' });
    const at = pos < 0 ? Number(length) + pos : pos;
    if (!Number.isInteger(length) || at < 0 || at >= length) {
      throw refused('length', `no position ${pos} of ${textOf(length)}`);
    }
    const own = this.#weightsOf(label);
    const width = own.size;
    const weights = new Float32Array(length * width);
    weights.set(own.data, at * width);
    return { hook, weights: new Tensor('float32', weights, [1, length, width]) };
  }

  get #outputs(): number {
    return this.options.kind === 'softmax' ? (this.weights.dims[0] as number) : 1;
  }

  /** The weights of a class, or those of the one read-out. */
  #weightsOf(label: number | undefined): Tensor<'float32'> {
    const several = this.options.kind === 'softmax';
    if (!several && label === undefined) return this.weights;
    if (!several || !(Number.isInteger(label) && (label as number) >= 0 && (label as number) < this.#outputs)) {
      throw refused('label', several ? `no class ${textOf(label)} of ${this.#outputs}` : 'label is of softmax');
    }
    return this.weights.slice(label as number);
  }

  async #read(data: FeatureRows): Promise<Float64Array> {
    const { dims } = this.weights;
    if (data.width !== dims.at(-1)) {
      const problem = `${call}: ${dims.at(-1)} weights, and ${this.options.hook} has ${data.width} features`;
      throw new ClearformerError('shape_mismatch', problem, { option: 'hook' });
    }
    const [weights, biases] = [Float64Array.from(this.weights.data), Float64Array.from([this.bias].flat())];
    return (await fitting()).readOuts(data, { weights, biases });
  }
}

/** Options of `edits`. */
export interface ProbeEditOptions {
  op?: 'add' | 'project_out' | undefined;
  strength?: number | undefined;
  pos?: number | readonly number[] | undefined;
  /** The class of `softmax`. */
  label?: number | undefined;
}

function unit(w: Tensor<'float32'>): Tensor<'float32'> {
  const norm = w.norm().item();
  if (norm > 0) return w.div(norm);
  throw refused('weights', 'all weights are 0, which have no direction');
}

function checked(options: LinearProbeOptions): LinearProbeOptions {
  checkOptions(call, options ?? null, ['hook', 'pos', 'head', 'kind', 'C', 'alpha', 'signal', 'progress']);
  const { kind = 'logistic', C = 1, alpha = 1, pos = -1 } = options;
  expectHook(call, 'hook', options.hook);
  expectKnown(call, 'kind', kind, ['logistic', 'softmax', 'ridge']);
  const other = kind === 'ridge' ? 'C' : 'alpha';
  if (options[other] !== undefined) throw refused(other, `${other} is not of ${kind}`);
  if (!(C > 0) || !Number.isFinite(C)) throw refused('C', `C is ${textOf(C)}, not above 0`);
  if (!(alpha >= 0) || !Number.isFinite(alpha)) throw refused('alpha', `alpha is ${textOf(alpha)}, not 0 or above`);
  if (!Number.isInteger(pos)) throw refused('pos', `pos is ${textOf(pos)}, no position`);
  const { signal, progress, ...kept } = options; // of the call
  return { ...kept, kind, pos };
}

function expectLabels(labels: readonly number[]): void {
  expectArgument(call, typeof labels?.find === 'function', 'a list of labels', labels);
}

/** More labels of classes are numbers of something else. */
const mostClasses = 1 << 16;

async function featuresOf(
  model: PreTrainedModel,
  inputs: readonly ProbedInput[],
  labels: readonly number[] | undefined,
  { hook, pos = -1, head, kind, signal, progress }: LinearProbeOptions,
): Promise<FeatureRows> {
  const [valid, what] = {
    logistic: [(label: number) => label === 0 || label === 1, '0 or 1'] as const,
    softmax: [(label: number) => Number.isInteger(label) && label >= 0 && label < mostClasses, 'class'] as const,
    ridge: [Number.isFinite, 'number'] as const,
  }[kind as 'logistic' | 'softmax' | 'ridge'];
  const wrong = labels?.find((label) => !valid(label));
  if (wrong !== undefined) throw refused('labels', `${textOf(wrong)} is no ${what}`);
  const found = await featuresAt(call, model, inputs, { hooks: [hook], pos, head, signal, progress });
  const rows = found.get(hook) as FeatureRows;
  if (labels !== undefined && labels.length !== rows.count) {
    throw refused('labels', `${labels.length} labels for ${rows.count} sequences`);
  }
  return rows;
}
