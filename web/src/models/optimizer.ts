// Optimisers with torch's names over a model's weights, which stay in the core, as do their gradients.

import type { Handle } from '../runtime/border.js';
import { type Engine, releaseHandle } from '../runtime/engine.js';
import type { OptimizerArguments } from '../runtime/weight_calls.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions, expectArgument, expectKnown } from '../support/options.js';
import { asyncDisposeSymbol, disposeSymbol, Lease } from '../support/resource.js';
import { forwardIn, type LabelInput, type ModelInputs } from './inputs.js';
import { countedLabels, labelsIn, withDecoderInputs } from './labels.js';
import type { PreTrainedModel } from './pre_trained_model.js';

/** What is trained, and how the learning rate changes. */
export interface OptimizerOptions {
  /** The learning rate (1e-3). It can be set between steps, too. */
  lr?: number | undefined;
  /**
   * Names of weights in the checkpoint (all); `*` matches any run of characters of those that are parameters in
   * transformers, so not the bias that BART and its kin add to the logits, nor the sinusoids of Pegasus and Whisper.
   */
  parameters?: string | readonly string[] | undefined;
  /** The name of an adapter in force, whose matrices are trained instead of the model's weights. */
  adapter?: string | undefined;
  /**
   * Factors of the learning rate by step: transformers' get_scheduler of that name
   * (`constant_with_warmup`).
   */
  lr_scheduler_type?: 'constant' | 'constant_with_warmup' | 'linear' | 'cosine' | undefined;
  /** Steps in which the factor rises from 0 (0); `constant` has none. */
  num_warmup_steps?: number | undefined;
  /** Steps in all, for `linear` and `cosine`. */
  num_training_steps?: number | undefined;
}

/** Options of torch.optim.AdamW, with its defaults. */
export interface AdamWOptions extends OptimizerOptions {
  /** (0.9, 0.999) */
  betas?: readonly [number, number] | undefined;
  /** (1e-8) */
  eps?: number | undefined;
  /** (0.01) */
  weight_decay?: number | undefined;
}

/** Options of torch.optim.SGD, with its defaults. */
export interface SGDOptions extends OptimizerOptions {
  /** (0) */
  momentum?: number | undefined;
  /** (0) */
  dampening?: number | undefined;
  /** (0) */
  weight_decay?: number | undefined;
  /** (false) */
  nesterov?: boolean | undefined;
}

/** Inputs of a model of any task, with the labels of its loss as transformers takes them: -100 is not counted. */
export type TrainingInputs = ModelInputs & { labels: LabelInput };

/** Options of `backward`. */
export interface LossOptions {
  /** 0 … 1 (0); only of labels that are classes or tokens (`invalid_argument` otherwise). */
  label_smoothing?: number | undefined;
  /**
   * An abort signal: the call rejects with its reason, once the current layer is computed. There are no gradients then;
   * those of before remain if it is aborted before the pass begins.
   */
  signal?: AbortSignal | undefined;
}

const common = ['lr', 'parameters', 'adapter', 'lr_scheduler_type', 'num_warmup_steps', 'num_training_steps'];
const schedules = ['constant', 'constant_with_warmup', 'linear', 'cosine'];
type Numbers = Omit<OptimizerArguments, 'model'>;

interface Opened {
  engine: Engine;
  optimizer: Handle;
  lease: Lease;
}

/**
 * An optimiser of a model's weights. `backward` computes the gradients of a loss, `step` changes the weights, in place:
 * later passes use them. Weights must be fp32 (`unsupported` otherwise). Rejects like a call of the model.
 */
export abstract class Optimizer {
  /** The learning rate of the next step, before the schedule's factor. */
  lr: number;
  readonly #model: PreTrainedModel;
  readonly #given: Numbers;
  #opened: Promise<Opened> | undefined;
  #disposed = false;

  /** @internal */
  constructor(model: PreTrainedModel, given: Numbers) {
    if (given?.kind === undefined) throw invalid('kind', 'Optimizer is abstract: new AdamW or SGD');
    const { open } = (model ?? {}) as Partial<PreTrainedModel>;
    expectArgument(`new ${given.kind}`, typeof open === 'function', 'a model', model);
    this.#model = model;
    this.#given = given;
    this.lr = given.lr;
  }

  /**
   * The mean loss of the inputs, as transformers computes it from `labels` for the model's task, whose gradients replace
   * those of before. Without `decoder_input_ids` a decoder's are the labels, shifted by one.
   * Edits of weights and adapters in force are part of the model.
   */
  async backward(inputs: TrainingInputs, options: LossOptions = {}): Promise<number> {
    checkOptions('backward', options, ['label_smoothing', 'signal']);
    const { loss } = await this.#ask(({ engine, optimizer }) => {
      const { labels: given, ...rest } = inputs ?? {};
      if (given == null) throw invalid('labels', 'backward: there are no labels');
      const { cfg } = this.#model;
      const all = labelsIn(given, cfg.task);
      const run = forwardIn('backward', withDecoderInputs(cfg, rest, all), engine);
      const labels = countedLabels(cfg, all, run);
      const { label_smoothing = 0, signal } = options;
      return engine.call('optimizer_backward', { ...run, optimizer, labels, label_smoothing }, signal);
    });
    return loss;
  }

  /**
   * Changes the weights by the gradients of the last `backward`, without which it rejects with `invalid_argument`.
   * Resolves to the learning rate of this step.
   */
  async step(): Promise<number> {
    const { lr } = this;
    return (await this.#ask(({ engine, optimizer }) => engine.call('optimizer_step', { optimizer, lr }))).lr;
  }

  /** @internal */
  async clip(max_norm: number): Promise<number> {
    return (await this.#ask(({ engine, optimizer }) => engine.call('optimizer_clip', { optimizer, max_norm }))).norm;
  }

  /** Releases the gradients and the optimiser's state; the weights remain as they are. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#model.calls.ask(inTurn, async () => {
      const opened = await this.#opened?.catch(() => undefined); // the call that opened it rejects
      await opened?.lease.release();
    });
  }
  /** For `using`: disposes without waiting. */
  [disposeSymbol](): void {
    void this.dispose();
  }
  /** For `await using`: the same as dispose(). */
  [asyncDisposeSymbol](): Promise<void> {
    return this.dispose();
  }

  /** In the order of the model's calls, of which one before may make the adapter that is trained. */
  async #ask<R>(issue: (opened: Opened) => Promise<R>): Promise<R> {
    if (this.#disposed) throw new ClearformerError('disposed', 'this optimiser was disposed');
    return this.#model.calls.run(inTurn, async (_, issued) => {
      const running = issue(await this.#open());
      issued();
      return running;
    });
  }

  async #open(): Promise<Opened> {
    const { engine, model } = this.#model.open();
    this.#opened ??= engine.call('optimizer_create', { model, ...this.#given }).then(({ optimizer }) => {
      return { engine, optimizer, lease: new Lease('this optimiser', this, releasing(engine, optimizer)) };
    });
    this.#opened.catch(() => {
      this.#opened = undefined; // the next call tries again
    });
    const opened = await this.#opened;
    opened.lease.check();
    return opened;
  }
}

/** Prepares nothing, but waits for the calls before. */
const inTurn = async (): Promise<void> => {};

/** Made here, where it does not hold the optimiser: one that is forgotten is released, too. */
const releasing = (engine: Engine, optimizer: Handle) => () => releaseHandle(engine, optimizer);

/** torch.optim.AdamW over a model's weights; its options have torch's defaults. */
export class AdamW extends Optimizer {
  constructor(model: PreTrainedModel, options: AdamWOptions = {}) {
    checkOptions('AdamW', options, [...common, 'betas', 'eps', 'weight_decay']);
    const { betas = [0.9, 0.999], eps = 1e-8, weight_decay = 0.01 } = options;
    if (!Array.isArray(betas) || betas.length !== 2)
      throw invalid('betas', `AdamW: betas is ${textOf(betas)}, not two numbers`);
    const [beta1, beta2] = betas as [number, number];
    super(model, { ...numbersOf('AdamW', options), beta1, beta2, eps, weight_decay });
  }
}

/** torch.optim.SGD over a model's weights; its options have torch's defaults. */
export class SGD extends Optimizer {
  constructor(model: PreTrainedModel, options: SGDOptions = {}) {
    checkOptions('SGD', options, [...common, 'momentum', 'dampening', 'weight_decay', 'nesterov']);
    const { momentum = 0, dampening = 0, weight_decay = 0, nesterov = false } = options;
    if (!Number.isFinite(dampening)) throw invalid('dampening', `SGD: dampening is ${textOf(dampening)}`);
    super(model, { ...numbersOf('SGD', options), momentum, dampening, weight_decay, nesterov });
  }
}

/**
 * torch.nn.utils.clip_grad_norm_: scales the gradients of the last `backward` so that their norm is at most `max_norm`.
 * Resolves to the norm before.
 */
export async function clip_grad_norm_(optimizer: Optimizer, max_norm: number): Promise<number> {
  if (typeof max_norm !== 'number' || !(max_norm >= 0)) {
    throw invalid('max_norm', `clip_grad_norm_: max_norm is ${textOf(max_norm)}`);
  }
  expectArgument('clip_grad_norm_', optimizer instanceof Optimizer, 'an optimizer', optimizer);
  return optimizer.clip(max_norm);
}

function numbersOf(kind: 'AdamW' | 'SGD', options: OptimizerOptions): Numbers {
  const { lr = 1e-3, parameters = '*', adapter, lr_scheduler_type: schedule = 'constant_with_warmup' } = options;
  expectKnown(kind, 'lr_scheduler_type', schedule, schedules);
  const patterns = [parameters].flat() as string[];
  if (patterns.length === 0) throw invalid('parameters', `${kind}: parameters names none`);
  const { num_warmup_steps = 0, num_training_steps = 0 } = options;
  const rest = { beta1: 0, beta2: 0, eps: 0, momentum: 0, dampening: 0, weight_decay: 0, nesterov: false };
  const counts = {
    warmup_steps: count('num_warmup_steps', num_warmup_steps),
    steps: count('num_training_steps', num_training_steps),
  };
  if (!schedule.startsWith('constant') && counts.steps === 0) {
    throw invalid('num_training_steps', `${kind}: ${schedule} needs num_training_steps`);
  }
  if (schedule === 'constant' && counts.warmup_steps > 0) {
    throw invalid('num_warmup_steps', `${kind}: constant has no warm-up`);
  }
  return { kind, lr, parameters: patterns, adapter, schedule, ...counts, ...rest };
}

function count(option: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw invalid(option, `${option} is ${textOf(value)}, no number of steps`);
}

const invalid = (option: string, message: string) => new ClearformerError('invalid_argument', message, { option });
