// Gradients of a metric with respect to activations, inputs, weights and the values of edits. Loaded at the first call.

import type {
  ForwardArguments,
  GradientArguments,
  GradientValue,
  Handle,
  HookPoint,
  ModelShape,
} from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError, textOf } from '../support/error.js';
import { abortable, checkOptions, expectKnown } from '../support/options.js';
import { nameTest } from '../support/pattern.js';
import { type ActivationCache, toCache, toModuleCache } from '../tensor/activation_cache.js';
import { Tensor } from '../tensor/tensor.js';
import { floatsOrNumber } from '../tensor/tensor_input.js';
import { toTensor } from '../tensor/tensor_output.js';
import { type ForwardHook, functionsIn } from './edits.js';
import { isOfEmbeddings, metricOfEmbeddings } from './embedding_metric.js';
import {
  computedIn,
  type DifferentiableMetric,
  type GradientInput,
  isFunction,
  type LossTerm,
  type MetricFunction,
  type MetricIn,
  termsIn,
  type WithRespectTo,
} from './gradient_metric.js';
import { type NamesFilter, resolveHooks } from './hooks.js';
import { forwardIn, type LabelInput, type ModelInputs } from './inputs.js';
import { countedLabels, labelsIn, withDecoderInputs, wordsIn } from './labels.js';
import { type EditOptions, keptIn, observe, partOf, requireCaptured, type StopOptions } from './observation.js';
import { type ModelOutput, mainOutput, toOutput } from './outputs.js';
import type { ForwardOptions, RunWithCacheOptions } from './pass_options.js';

/** Options of `backward`. */
export interface BackwardOptions extends EditOptions, StopOptions {
  /** What is differentiated. */
  metric: DifferentiableMetric;
  with_respect_to?: WithRespectTo | undefined;
  /**
   * Functions called with the gradient of each matching activation, from the outputs to the inputs; what they write or
   * return is propagated in its place. Like `fwd_hooks`, they run where the model does.
   */
  bwd_hooks?: readonly ForwardHook[] | undefined;
  /**
   * What the forward pass keeps for the backward pass: all that it reads (`keep`), which for each layer and token are some
   * 15 to 20 times its width; or the residual stream before each layer (`recompute`), which is then computed once more,
   * with the same results, in about a third more time. Both grow linearly with the text. Default `auto`: `keep` if that
   * fits.
   */
  memory?: 'auto' | 'keep' | 'recompute' | undefined;
  /**
   * Whether `outputs` has the logits of a language model. With false they are computed in blocks of rows, and a long text's
   * logits are never in memory as a whole. Default true.
   */
  return_logits?: boolean | undefined;
  /** The activations to capture as well. */
  names_filter?: NamesFilter | undefined;
  /** The part of them that is kept, as in `run_with_cache`. Gradients are whole. */
  select?: RunWithCacheOptions['select'];
  /** Positions whose logits are computed, as in a call of the model. */
  logits_to_keep?: number | readonly number[] | undefined;
  /** An abort signal: the call rejects with its reason, once the current layer is computed. */
  signal?: AbortSignal | undefined;
}

/** The result of `backward`. */
export interface Gradients {
  /** The metric. */
  value: number;
  /** The outputs of the pass. */
  outputs: ModelOutput;
  /** By hook name, of the activations' dims. */
  grad: ActivationCache;
  /** By input. */
  inputs: Partial<Record<GradientInput, Tensor<'float32'>>>;
  /** By the weight's name as asked for, in the dims and orientation of `parameter(name)`. */
  weights: Record<string, Tensor<'float32'>>;
  /** Of the edits' values, in the order asked for. */
  edits: Tensor<'float32'>[];
  /** The activations that were captured. */
  activations: ActivationCache;
}

/** @internal What gradients need of a model. */
export interface DifferentiableModel {
  engine: Engine;
  model: Handle;
  hooks: readonly HookPoint[];
  cfg: ModelShape;
  /** Called once the core is asked, as far as is known before: later calls may follow. */
  issued?: () => void;
}

const known = [
  'metric',
  'with_respect_to',
  'edits',
  'fwd_hooks',
  'bwd_hooks',
  'start_at_layer',
  'stop_at_layer',
  'logits_to_keep',
  'memory',
  'return_logits',
  'names_filter',
  'select',
  'signal',
];

/** @internal The gradients of a metric. */
export async function gradients(
  call: string,
  { engine, model, hooks, cfg, issued }: DifferentiableModel,
  given: ModelInputs,
  options: BackwardOptions,
): Promise<Gradients> {
  checkOptions(call, options ?? {}, known);
  if (options?.metric === undefined) throw refused('invalid_argument', `${call}: there is no metric`, 'metric');
  const inputs = labelledInputs(cfg, given, options.metric);
  if (inputs?.past_key_values) {
    throw refused(
      'unsupported',
      `${call}: past_key_values are not differentiated; give the whole sequence`,
      'past_key_values',
    );
  }
  const { bwd_hooks, logits_to_keep, memory = 'auto', return_logits = true, signal } = options;
  expectKnown(call, 'memory', memory, ['auto', 'keep', 'recompute']);
  const { reached, ...part } = partOf(options, hooks, cfg, inputs);
  const converted = forwardIn(call, inputs, engine);
  const metric = isOfEmbeddings(options.metric)
    ? metricOfEmbeddings(call, engine, options.metric, converted.attention_mask)
    : options.metric;
  const { request, cause, cache } = await observe(call, options, reached, engine);
  const kept = logits_to_keep === undefined ? {} : { logits_to_keep: keptIn(logits_to_keep, converted) };
  const pass = { model, ...converted, ...request, ...part, ...kept };
  const wanted = await wantedIn(call, options, reached, {
    engine,
    model,
    cfg,
    inputs: inputs ?? {},
    start: part.start_at_layer,
  });
  const back = bwd_hooks && (await functionsIn(call, bwd_hooks, reached, engine, 'bwd_hooks'));
  try {
    if (isFunction(metric)) issued?.(); // which may call the model, too
    const { terms, value: own } = isFunction(metric)
      ? await computed(call, metric, pass, reached, engine, signal)
      : { terms: termsIn(call, metric, reached, cfg, converted), value: undefined };
    const more = { memory, ...(!return_logits && { omit_logits: true }), ...(back && { bwd_hooks: back.fwd_hooks }) };
    const running = engine.call('model_gradient', { ...pass, ...terms, ...wanted.request, ...more }, signal);
    issued?.();
    const value = await abortable(running, signal);
    if (options.names_filter !== undefined) requireCaptured(options.names_filter, value.captured ?? {});
    return resultOf(own ?? value.value, value, wanted, cache(value));
  } catch (thrown) {
    throw cause(back?.failure()?.thrown ?? thrown);
  }
}

/** The inputs, with a decoder's made of the labels of a loss. */
function labelledInputs(cfg: ModelShape, inputs: ModelInputs, metric: DifferentiableMetric): ModelInputs {
  const term = [metric]
    .flat()
    .find((one): one is LossTerm => typeof one === 'object' && one !== null && 'labels' in one);
  return term === undefined ? inputs : withDecoderInputs(cfg, inputs ?? {}, labelsIn(term.labels, cfg.task));
}

/** A cache with the gradients of a metric with respect to the same activations, and the metric. */
export type DifferentiatedCache = ActivationCache & { readonly grad: ActivationCache; readonly value: number };

/** @internal What `run_with_cache` and `run_with_hooks` return when they are given a metric, or asked for the loss. */
export async function observedWithGradient(
  call: string,
  model: DifferentiableModel,
  inputs: ModelInputs,
  { return_type = 'logits', ...options }: ObservedOptions,
): Promise<[Tensor<'float32'>, DifferentiatedCache]> {
  const { names_filter: hooks, metric, bwd_hooks } = options;
  expectKnown(call, 'return_type', return_type, ['logits', 'loss']);
  const lossAsked = return_type === 'loss';
  if (lossAsked && (metric ?? bwd_hooks) !== undefined) {
    throw refused('invalid_argument', `${call}: return_type 'loss' and a metric exclude each other`, 'return_type');
  }
  const text = model.cfg.kind === 'encoder-decoder' ? 'decoder_input_ids' : 'input_ids';
  if (lossAsked && !(model.cfg.task.endsWith('-lm') && inputs?.[text] != null)) {
    const message = `${call}: return_type 'loss' is of ${text} and a model that predicts words`;
    throw refused('invalid_argument', message, 'return_type');
  }
  const own = {
    ...options,
    ...(hooks !== undefined && metric !== undefined && { with_respect_to: { hooks } }),
    ...(lossAsked && { metric: { labels: wordsIn(inputs, model.cfg) } }),
  };
  const { outputs, activations, grad, value } = await gradients(call, model, inputs, own as BackwardOptions);
  Object.defineProperties(activations, { grad: { value: grad }, value: { value } }); // not among the captured
  return [lossAsked ? scalar(value) : mainOutput(outputs), activations as DifferentiatedCache];
}

type ObservedOptions = Omit<BackwardOptions, 'metric'> & {
  metric?: DifferentiableMetric | undefined;
  return_type?: string | undefined;
};

const scalar = (value: number) => new Tensor('float32', [value], []);

/** @internal The output of a call of the model with `labels`: with their loss, which comes first as in transformers. */
export async function outputWithLoss(
  { engine, model, cfg }: DifferentiableModel,
  { labels: given, ...inputs }: ModelInputs,
  options: ForwardOptions,
): Promise<ModelOutput> {
  const { output_attentions = false, output_hidden_states = false, use_cache, logits_to_keep, signal } = options;
  if (use_cache || inputs.past_key_values || logits_to_keep !== undefined) {
    throw refused('unsupported', 'model: labels exclude past_key_values, use_cache and logits_to_keep', 'labels');
  }
  const labels = labelsIn(given as LabelInput, cfg.task);
  const converted = forwardIn('model', withDecoderInputs(cfg, inputs, labels), engine);
  const losses = [{ labels: countedLabels(cfg, labels, converted), label_smoothing: 0, weight: 1 }];
  const request = { model, ...converted, losses, output_attentions, output_hidden_states };
  const { value, outputs, lists = {} } = await abortable(engine.call('model_gradient', request, signal), signal);
  return { loss: scalar(value), ...toOutput({ outputs, lists }, undefined) };
}

/** The terms and the value of a metric function, from a pass of its own. */
async function computed(
  call: string,
  metric: MetricFunction,
  pass: ForwardArguments,
  hooks: readonly HookPoint[],
  engine: Engine,
  signal: AbortSignal | undefined,
): Promise<{ terms: MetricIn; value: number }> {
  const { names_filter } = metric;
  const names =
    names_filter === undefined ? [] : resolveHooks(`${call}: metric`, hooks, names_filter).map(({ name }) => name);
  const seen = await engine.call('model_forward', { ...pass, names }, signal);
  const found = await metric.compute(toCache(seen.captured), toOutput(seen, undefined));
  if (typeof found?.value !== 'number') {
    throw refused('invalid_argument', `${call}: metric gave ${textOf(found)}, not { value, gradients }`, 'metric');
  }
  return { terms: computedIn(call, found, hooks, seen.outputs), value: found.value };
}

/** What the core is asked for, and where the results belong. */
interface Wanted {
  request: Pick<GradientArguments, 'wanted' | 'wanted_weights' | 'wanted_edits'>;
  hooks: readonly HookName[];
  /** The place of each input's gradient in the core. */
  places: ReadonlyMap<GradientInput, string>;
  /** For each edit asked for the number of the core's edits, one per hook point, and the dims of its value. */
  edits: readonly { count: number; dims: readonly number[] }[];
}

interface Asked {
  engine: Engine;
  model: Handle;
  cfg: ModelShape;
  inputs: ModelInputs;
  start: number | undefined;
}

async function wantedIn(
  call: string,
  options: BackwardOptions,
  hooks: readonly HookPoint[],
  asked: Asked,
): Promise<Wanted> {
  const wish = options.with_respect_to ?? {};
  checkOptions(`${call}: with_respect_to`, wish, ['hooks', 'inputs', 'weights', 'edits']);
  if (!Array.isArray(wish.edits ?? [])) {
    throw refused('invalid_argument', `with_respect_to.edits: ${textOf(wish.edits)} is no list`, 'with_respect_to');
  }
  const filter = wish.hooks;
  const named =
    filter === undefined ? [] : resolveHooks('with_respect_to.hooks', hooks, filter).map(({ name }) => name);
  const places = new Map(
    ([wish.inputs ?? []].flat() as GradientInput[]).map((input) => [input, placeOf(call, input, asked)]),
  );
  const edits = editsWanted(call, options, hooks);
  const request = {
    wanted: [...new Set([...named, ...places.values()])],
    wanted_weights: await weightsWanted(wish.weights, asked),
    wanted_edits: edits.flat(),
  };
  const shapes = (wish.edits ?? []).map((index, at) => {
    const { dims } = floatsOrNumber('value', options.edits?.[index]?.value ?? []);
    return { count: edits[at]?.length ?? 0, dims };
  });
  return { request, hooks: named, places, edits: shapes };
}

/** The hook point or input of the core whose gradient is that of the input. */
function placeOf(call: string, input: GradientInput, { cfg, inputs, start }: Asked): string {
  const towers =
    cfg.kind === 'encoder-decoder'
      ? ['encoder.', 'decoder.']
      : cfg.kind === 'dual-encoder'
        ? ['text_model.', '']
        : ['', ''];
  if (input === 'pixel_values' || input === 'input_features' || input === 'input_values') {
    if (inputs[input] !== undefined) return input;
  } else if (input === 'inputs_embeds' && (inputs.inputs_embeds ?? inputs.input_ids) !== undefined) {
    return `${towers[0]}inputs_embeds`;
  } else if (
    input === 'decoder_inputs_embeds' &&
    (inputs.decoder_inputs_embeds ?? inputs.decoder_input_ids) !== undefined
  ) {
    return `${towers[1]}inputs_embeds`;
  } else if (input === 'residual' && inputs.residual !== undefined && start !== undefined) {
    const source = inputs.input_ids ?? inputs.inputs_embeds ?? inputs.input_features;
    return `${source === undefined ? towers[0] : towers[1]}residual`;
  }
  throw refused(
    'invalid_argument',
    `${call}: with_respect_to.inputs: this pass has no input '${textOf(input)}'`,
    'with_respect_to',
  );
}

/** The weights' names: patterns are resolved, since the core answers by name. */
async function weightsWanted(
  wish: string | readonly string[] | undefined,
  { engine, model }: Asked,
): Promise<string[]> {
  if (wish === undefined) return [];
  const given = [wish].flat() as string[];
  if (!given.every((name) => typeof name === 'string')) {
    throw refused('invalid_argument', `with_respect_to.weights: ${textOf(wish)} is no name`, 'with_respect_to');
  }
  if (!given.some((name) => name.includes('*'))) return given;
  const { parameters } = await engine.call('parameter_list', { model });
  const names = parameters.map(({ name }) => name);
  return given.flatMap((pattern) => {
    if (!pattern.includes('*')) return [pattern];
    const found = names.filter(nameTest(pattern));
    if (found.length > 0) return found;
    throw refused('invalid_argument', `with_respect_to.weights: no weight matches '${pattern}'`, 'with_respect_to');
  });
}

/** For each edit asked for the indices of the core's edits, which come after the functions. */
function editsWanted(call: string, options: BackwardOptions, hooks: readonly HookPoint[]): number[][] {
  const [edits, fwd_hooks] = [options.edits || [], options.fwd_hooks || []]; // null is none, as in a forward pass
  const wish = options.with_respect_to?.edits ?? [];
  const count = (filter: NamesFilter) => resolveHooks(call, hooks, filter).length;
  let next = fwd_hooks.reduce((sum, [filter]) => sum + count(filter), 0);
  const indices = edits.map(({ hook }) => Array.from({ length: count(hook) }, () => next++));
  return wish.map((index) => {
    const own = indices[index];
    if (own !== undefined && edits[index]?.value !== undefined) return own;
    throw refused(
      'invalid_argument',
      `with_respect_to.edits: there is no edit ${textOf(index)} with a value`,
      'with_respect_to',
    );
  });
}

function resultOf(value: number, found: GradientValue, wanted: Wanted, activations: ActivationCache): Gradients {
  const { hooks, places, edits: shapes } = wanted;
  const own = new Set<string>(hooks);
  const grad = toCache(Object.fromEntries(Object.entries(found.grad).filter(([name]) => own.has(name))));
  const at = (place: string) => toTensor(found.grad[place] as (typeof found.grad)[string]);
  const inputs = [...places].map(([input, place]) => [input, at(place)]);
  let next = 0;
  const edits = shapes.map(({ count, dims }) => {
    const parts = found.edits.slice(next, next + count).map((part) => toTensor(part));
    next += count;
    return parts.reduce((sum, part) => sum.add(part)).reshape(dims);
  });
  return {
    value,
    outputs: toOutput({ outputs: found.outputs, lists: found.lists ?? {} }, undefined),
    grad,
    inputs: Object.fromEntries(inputs),
    weights: { ...toModuleCache(found.weights) },
    edits,
    activations,
  };
}

function refused(code: 'invalid_argument' | 'unsupported', message: string, option: string): ClearformerError {
  return new ClearformerError(code, message, { option });
}
