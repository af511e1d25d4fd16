// What is captured, edited and differentiated in a call of a module.

import type { CapturedOut, CapturePart } from '../models/capture_parts.js';
import { indicesOf, keepIndices } from '../models/captured_indices.js';
import { type ActivationEdit, editsIn, functionsIn } from '../models/edits.js';
import type { HookConstants, HookFunction, HookModule } from '../models/hook_functions.js';
import { type NamesFilter, resolveHooks } from '../models/hooks.js';
import type { HookPoint } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import type { GradientRequest, GradientsFound, NamedTensors } from '../runtime/gradient_request.js';
import type { HookName } from '../runtime/hook_names.js';
import type { ObservationRequest } from '../runtime/observation_request.js';
import type { ModuleArguments, ModuleValue } from '../runtime/primitive_calls.js';
import { ClearformerError, textOf } from '../support/error.js';
import { isA } from '../support/kinds.js';
import { checkOptions } from '../support/options.js';
import { nameTest } from '../support/pattern.js';
import { loadPart } from '../support/platform.js';
import { type ModuleCache, toModuleCache } from '../tensor/activation_cache.js';
import type { Tensor } from '../tensor/tensor.js';
import { floats, floatsOrNumber, type TensorInput } from '../tensor/tensor_input.js';
import { toTensor } from '../tensor/tensor_output.js';

/** Hook points of a module, by name; `*` matches any characters. */
export type ModuleHooks = string | RegExp | readonly (string | RegExp)[];

/** An edit of a module's activations, as of a model's (see `ActivationEdit`). */
export interface ModuleEdit extends Omit<ActivationEdit, 'hook'> {
  hook: ModuleHooks;
}

/** Hook points and the function called at each, as of a model (see `ForwardHook`). */
export type ModuleHook =
  | readonly [ModuleHooks, HookFunction | HookModule]
  | readonly [ModuleHooks, HookFunction | HookModule, HookConstants];

/** Edits in a call of a module. */
export interface ModuleEdits {
  /** Edits given as data; applied in order, before later layers read the activations. */
  edits?: readonly ModuleEdit[] | undefined;
  /** Functions that read and edit activations, before `edits`. */
  fwd_hooks?: readonly ModuleHook[] | undefined;
  /** The part that is kept of the activations that `names` captures, or several (see `CapturePart`). */
  select?: ModulePart | readonly ModulePart[] | undefined;
}

/** The part of a module's activations that is captured, as of a model's. */
export interface ModulePart extends Omit<CapturePart, 'hook'> {
  hook?: ModuleHooks | undefined;
}

/** With respect to what a module's output is differentiated. */
export interface ModuleWithRespectTo {
  /** Arguments of `forward` that are tensors, by name (`src`, `query`, `X`, …). */
  inputs?: string | readonly string[] | undefined;
  /** Keys of the state_dict; `*` matches any characters. */
  weights?: string | readonly string[] | undefined;
  /** Activations: the gradient of each value after its edits. */
  hooks?: ModuleHooks | undefined;
  /** The indices of `edits` with a value: the gradients of these values, in order. */
  edits?: readonly number[] | undefined;
}

/** Options of `backward`. */
export interface ModuleBackwardOptions {
  /** The gradient of the output, of its dims. */
  grad_output: TensorInput;
  /** Default, as in torch: all inputs and all weights. */
  with_respect_to?: ModuleWithRespectTo | undefined;
  /**
   * Functions called with the gradient of each matching activation, from the output to the inputs; what they write or
   * return is propagated in its place.
   */
  bwd_hooks?: readonly ModuleHook[] | undefined;
}

/** The result of `backward`. */
export interface ModuleGradients {
  /** That of `forward`. */
  output: Tensor<'float32'>;
  /** By the argument's name, of its dims: of a tensor given as several, torch's `grad` is the sum of theirs. */
  inputs: Record<string, Tensor<'float32'>>;
  /** By the key of the state_dict, of its dims. */
  weights: Record<string, Tensor<'float32'>>;
  /** By hook name, of the activation's dims. */
  grad: ModuleCache;
  /** Of the edits' values, in the order asked for. */
  edits: Tensor<'float32'>[];
  /** The activations that `names` captured. */
  activations: ModuleCache;
}

type Call = Pick<ModuleArguments, 'module' | 'tensors' | 'masks'>;

/** The module, the call's tensors and masks, and the core. */
export interface ModulePass {
  kind: string;
  engine: Engine;
  call: Call;
  /** What the caller captures, and what the module needs itself. */
  names: readonly string[];
  needed: readonly string[];
  edits: ModuleEdits;
}

/** What was captured, by name. */
type Cached = { cache: ModuleCache };

/** Runs `forward`. */
export async function forward(pass: ModulePass): Promise<ModuleValue & Cached> {
  const { request, cause, cache } = await observed(pass, await hooksOf(pass, Object.values(pass.edits)));
  try {
    const value = await pass.engine.call('module_forward', { ...pass.call, ...request });
    return { ...value, cache: cache(value) };
  } catch (thrown) {
    throw cause(thrown);
  }
}

/** Runs `forward` and then backward; `weightless`: the module has no weights. */
export async function backward(
  pass: ModulePass,
  options: ModuleBackwardOptions,
  weightless: boolean,
): Promise<Differentiated> {
  const { kind, engine, call } = pass;
  const what = `${kind}.backward`;
  checkOptions(what, options ?? null, ['grad_output', 'with_respect_to', 'bwd_hooks']);
  const wish = options.with_respect_to ?? { inputs: trainable(call), ...(!weightless && { weights: '*' }) };
  checkOptions(`${what}: with_respect_to`, wish, ['inputs', 'weights', 'hooks', 'edits']);
  const grad_output = floats(`${what}: grad_output`, options.grad_output);
  const inputs = inputsWanted(what, wish, call);
  const hooks = await hooksOf(pass, [...Object.values(pass.edits), options.bwd_hooks, wish.hooks]);
  const { request, cause, cache } = await observed(pass, hooks);
  const back = options.bwd_hooks && (await functionsIn(what, asHooks(options.bwd_hooks), hooks, engine, 'bwd_hooks'));
  const edits = editsWanted(what, wish, pass.edits, hooks);
  const wanted: GradientRequest = {
    wanted: wish.hooks
      ? resolveHooks('with_respect_to.hooks', hooks, wish.hooks as NamesFilter).map(({ name }) => name)
      : [],
    wanted_weights: [wish.weights ?? []].flat() as string[],
    wanted_edits: edits.flatMap(({ own }) => own),
    ...(back && { bwd_hooks: back.fwd_hooks }),
  };
  try {
    const found = await engine.call('module_backward', { ...call, ...request, ...wanted, grad_output });
    return { ...found, cache: cache(found), asked: { inputs, edits } };
  } catch (thrown) {
    throw cause(back?.failure()?.thrown ?? thrown);
  }
}

/** What the core found, and what was asked for. */
export interface Differentiated extends ModuleValue, GradientsFound, Cached {
  inputs: NamedTensors;
  asked: { inputs: readonly string[]; edits: readonly EditWanted[] };
}

interface EditWanted {
  /** The numbers of the core's edits, one per hook point. */
  own: readonly number[];
  dims: readonly number[];
}

/** The result of `backward`, with the activations whose names match. */
export function gradientsOf(found: Differentiated, names: readonly string[]): ModuleGradients {
  const { inputs, edits } = found.asked;
  const captured = Object.entries(found.cache).filter(([name]) => names.some((one) => nameTest(one)(name)));
  let next = 0;
  const ofEdits = edits.map(({ own, dims }) => {
    const parts = found.edits.slice(next, next + own.length).map((part) => toTensor(part));
    next += own.length;
    return parts.reduce((sum, part) => sum.add(part)).reshape(dims);
  });
  const given = inputs.map((name) => [name, toTensor(found.inputs[name] as NamedTensors[string])] as const);
  return {
    output: toTensor(found.output),
    inputs: Object.fromEntries(given),
    weights: { ...toModuleCache(found.weights) },
    grad: toModuleCache(found.grad),
    edits: ofEdits,
    activations: keepIndices(Object.fromEntries(captured), indicesOf(found.cache)),
  };
}

/** The tensors that have gradients: not indices. */
const trainable = ({ tensors }: Call) =>
  Object.keys(tensors).filter((name) => isA(tensors[name]?.data, 'Float32Array'));

function inputsWanted(what: string, wish: ModuleWithRespectTo, call: Call): string[] {
  const names = [wish.inputs ?? []].flat() as string[];
  const known = trainable(call);
  const missing = names.find((name) => !known.includes(name));
  if (missing === undefined) return names;
  const list = known.length === 0 ? 'none of its inputs has a gradient' : `there are ${known.join(', ')}`;
  throw refused(`${what}: with_respect_to.inputs: there is no input '${textOf(missing)}' (${list})`);
}

function editsWanted(
  what: string,
  wish: ModuleWithRespectTo,
  { edits, fwd_hooks }: ModuleEdits,
  hooks: readonly HookPoint[],
): EditWanted[] {
  const count = (filter: ModuleHooks) => resolveHooks(what, hooks, filter as NamesFilter).length;
  const wanted = wish.edits ?? [];
  if (wanted.length === 0) return [];
  let next = (fwd_hooks ?? []).reduce((sum, [filter]) => sum + count(filter), 0);
  const numbers = (edits ?? []).map(({ hook }) => Array.from({ length: count(hook) }, () => next++));
  return wanted.map((index) => {
    const value = edits?.[index]?.value;
    if (value === undefined) {
      throw refused(`${what}: with_respect_to.edits: there is no edit ${textOf(index)} with a value`);
    }
    return { own: numbers[index] as number[], dims: floatsOrNumber('value', value).dims };
  });
}

/** The module's hook points, of which patterns are resolved, if any are given: those that a call comes by. */
async function hooksOf({ engine, call }: ModulePass, given: readonly unknown[]): Promise<HookPoint[]> {
  if (given.every((one) => one === undefined)) return [];
  const names = ['*', ...onRequest.map((name) => `*${name}`)];
  const { captured, legends } = await engine.call('module_forward', { ...call, names });
  return Object.entries(captured ?? {}).map(([name, { dims }]) => ({
    name: name as HookName,
    dims,
    axes: (legends[name] as string).split(' '),
    dtype: 'float32',
    on_request: onRequest.some((leaf) => name.endsWith(leaf)),
  }));
}

const onRequest = ['hook_result', 'hook_q_input', 'hook_k_input', 'hook_v_input', 'hook_mlp_in'];

/** The request for the core, and what turns its error into that of a caller's function. */
async function observed({ kind, engine, names, needed, edits: given }: ModulePass, hooks: readonly HookPoint[]) {
  const what = `${kind}.forward`;
  const { edits, fwd_hooks, select } = given;
  const points = select === undefined ? [] : resolveHooks('names', hooks, names as NamesFilter);
  const selecting = select && (await loadPart(() => import('../models/capture_parts.js'))); // rarely needed
  const parts = selecting?.partsIn(what, select as CapturePart[], points) ?? new Map<string, never>();
  const whole = [...parts.keys()].find((name) => needed.some((one) => nameTest(one)(name)));
  if (whole !== undefined) {
    const why =
      'are the attention weights, which are captured whole (of nn.MultiheadAttention, need_weights: false leaves them out)';
    throw new ClearformerError('unsupported', `${what}: select: ${whole} ${why}`, { option: 'select' });
  }
  const own = select === undefined ? names : points.map(({ name }) => name).filter((name) => !parts.has(name));
  const functions = fwd_hooks && (await functionsIn(what, asHooks(fwd_hooks), hooks, engine));
  const captured = [...own, ...needed];
  const request: ObservationRequest = {
    ...(captured.length > 0 && { names: captured }),
    ...(parts.size > 0 && { parts: [...parts.values()].map(({ request }) => request) }),
    ...(edits && { edits: editsIn(what, edits as readonly ActivationEdit[], hooks) }),
    ...(functions && { fwd_hooks: functions.fwd_hooks }),
  };
  return {
    request,
    cause: (thrown: unknown) => functions?.failure()?.thrown ?? thrown,
    cache: (value: CapturedOut) => selecting?.capturedParts(value, parts) ?? toModuleCache(value.captured),
  };
}

const asHooks = (hooks: readonly ModuleHook[]) => hooks as Parameters<typeof functionsIn>[1];

/** Throws for a name or pattern that matched nothing. */
export function checkNames(kind: string, names: readonly string[], captured: readonly string[]): void {
  const missing = names.find((name) => !captured.some(nameTest(name)));
  if (missing === undefined) return;
  const message = `${kind}: names: no hook is named '${missing}' (['*'] gives all there are)`;
  throw new ClearformerError('invalid_argument', message, { option: 'names' });
}

function refused(message: string): ClearformerError {
  return new ClearformerError('invalid_argument', message, { option: 'with_respect_to' });
}
