// Captures and edits requested by a call, for a forward pass.

import type {
  ForwardArguments,
  ForwardValue,
  HookPoint,
  ModelShape,
  ObservationRequest,
  RunInputs,
} from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { ourName } from '../runtime/hook_names.js';
import { ClearformerError, quoted, textOf } from '../support/error.js';
import type { ActivationCache } from '../tensor/activation_cache.js';
import type { Tensor } from '../tensor/tensor.js';
import { type CapturedOut, type CapturePart, capturedParts, partsIn } from './capture_parts.js';
import { type ActivationEdit, editsIn, type ForwardHook, functionsIn } from './edits.js';
import { type NameFilter, type NamesFilter, type PassHook, resolveHooks } from './hooks.js';
import type { ModelInputs } from './inputs.js';
import { mainOutput, toOutput } from './outputs.js';

/** Edits in a forward pass. */
export interface EditOptions {
  /** Edits given as data; applied in order, before later layers read the activations. */
  edits?: readonly ActivationEdit[] | undefined;
  /**
   * Functions that read and edit activations, before `edits`. They run where the model does. A worker receives a
   * function's source and a copy of its constants, and nothing else of its surroundings: a variable of its scope is not
   * defined there, and what it changes outside of its value is not seen here.
   */
  fwd_hooks?: readonly ForwardHook[] | undefined;
}

/** Where a forward pass begins and ends. */
export interface StopOptions {
  /**
   * The pass begins before this layer, with the input `residual` in place of tokens or images, and returns what the
   * whole pass would; negative: from the end. Its hooks are those from this layer on.
   */
  start_at_layer?: number | undefined;
  /**
   * The pass ends before this layer and returns the residual stream there; negative: from the end. See
   * `run_with_cache`.
   */
  stop_at_layer?: number | undefined;
}

/** The request for the core, the exception thrown by a caller's function, and what a pass captured. */
export interface PassObservation {
  request: ObservationRequest;
  /** The error to throw instead of the core's. */
  cause(thrown: unknown): unknown;
  cache(value: CapturedOut): ActivationCache;
}

/** That of a generation, which may capture nothing. */
export type Observation = Omit<PassObservation, 'cache'> & Partial<PassObservation>;

interface Wanted extends EditOptions {
  names_filter?: NamesFilter | undefined;
  select?: CapturePart | readonly CapturePart[] | undefined;
}

/** Converts `names_filter` and edits; they can only refer to hook points in `hooks`. */
export async function observe(
  call: string,
  wanted: Wanted,
  hooks: readonly HookPoint[],
  engine: Engine,
): Promise<PassObservation> {
  const { names_filter, select, edits, fwd_hooks } = wanted;
  const points = names_filter === undefined ? [] : resolveHooks('names_filter', hooks, names_filter);
  const parts = partsIn(call, select ?? [], points);
  const functions = fwd_hooks && (await functionsIn(call, fwd_hooks, hooks, engine));
  const request: ObservationRequest = {
    ...(names_filter !== undefined && { names: points.map(({ name }) => name).filter((name) => !parts.has(name)) }),
    ...(parts.size > 0 && { parts: [...parts.values()].map(({ request }) => request) }),
    ...(edits && { edits: editsIn(call, edits, hooks) }),
    ...(functions && { fwd_hooks: functions.fwd_hooks }),
  };
  return {
    request,
    cause: (thrown) => functions?.failure()?.thrown ?? thrown,
    cache: (value) => capturedParts(value, parts),
  };
}

/** A forward pass of a model with what is captured and edited; the function that it resolves to makes it by `forward`. */
export async function observedPass(
  call: string,
  { engine, hooks, cfg }: { engine: Engine; hooks: readonly HookPoint[]; cfg: ModelShape },
  inputs: ModelInputs,
  options: Wanted & StopOptions,
) {
  const { reached, ...part } = partOf(options, hooks, cfg, inputs);
  const { request, cause, cache } = await observe(call, options, reached, engine);
  type Forward = (given: Partial<ForwardArguments>, kept: typeof keptIn) => Promise<{ value: ForwardValue }>;
  return async (forward: Forward): Promise<[Tensor<'float32'>, ActivationCache]> => {
    try {
      const { value } = await forward({ ...request, ...part }, keptIn);
      if (options.names_filter !== undefined) requireCaptured(options.names_filter, value.captured ?? {});
      return [mainOutput(toOutput(value, undefined)), cache(value)];
    } catch (thrown) {
      throw cause(thrown);
    }
  };
}

/** Throws `invalid_argument` for a name, not a pattern, that was not captured: this pass did not reach it. */
export function requireCaptured(filter: NamesFilter, captured: object): void {
  const filters: readonly NameFilter[] = Array.isArray(filter) ? filter : [filter as NameFilter];
  for (const name of filters) {
    if (typeof name !== 'string' || name.includes('*') || ourName(name) in captured) continue;
    throw new ClearformerError('invalid_argument', `names_filter: this pass does not come by '${name}'`, {
      option: 'names_filter',
    });
  }
}

/** A stack of blocks: how the names of its layers' hooks begin, and their number. */
interface Stack {
  prefix: string;
  layers: number;
}

/**
 * The layers before which a pass begins and ends, counted from 0, and the hook points it reaches. Throws
 * `invalid_argument`.
 */
export function partOf(
  options: StopOptions,
  hooks: readonly HookPoint[],
  cfg: ModelShape,
  inputs: ModelInputs,
): { start_at_layer?: number | undefined; stop_at_layer?: number | undefined; reached: readonly PassHook[] } {
  const { first, last, absent = '' } = stacksOf(cfg, inputs ?? {});
  const run = absent === '' ? hooks : hooks.map((hook) => ({ ...hook, absent: hook.name.startsWith(absent) }));
  const start_at_layer = layerIn('start_at_layer', options.start_at_layer, first.layers);
  const stop_at_layer = layerIn('stop_at_layer', options.stop_at_layer, last.layers);
  const reached = stop_at_layer === undefined ? run : run.slice(0, placeOf(run, last, stop_at_layer));
  if (start_at_layer === undefined) return { stop_at_layer, reached };
  const tower = first.prefix.replace('blocks.', ''); // its embedding, too, is skipped
  const skipped = reached.findIndex(({ name }) => name.startsWith(tower));
  const begun = [...reached.slice(0, skipped), ...reached.slice(placeOf(hooks, first, start_at_layer))];
  return { start_at_layer, stop_at_layer, reached: begun };
}

/**
 * The positions of `logits_to_keep` as a list, empty for all. Throws `invalid_argument` if it is neither a whole number
 * nor a list of them.
 */
export function keptIn(given: number | readonly number[], inputs: RunInputs): number[] {
  const whole = [given].flat();
  const isCount = typeof given === 'number';
  if (whole.length === 0 || !whole.every((one) => Number.isSafeInteger(one) && (one >= 0 || !isCount))) {
    const message = `logits_to_keep: needs a number of positions or a list of them, got ${textOf(given)}`;
    throw new ClearformerError('invalid_argument', message, { option: 'logits_to_keep' });
  }
  if (!isCount) return whole;
  const { decoder_input_ids, decoder_inputs_embeds, residual, input_ids, inputs_embeds } = inputs;
  const target = decoder_input_ids ?? decoder_inputs_embeds ?? residual ?? input_ids ?? inputs_embeds;
  const [, length = 1] = target?.dims ?? [];
  const count = Math.min(given, length);
  return Array.from({ length: count }, (_, at) => at - count);
}

function layerIn(option: string, given: number | undefined, layers: number): number | undefined {
  if (given === undefined) return undefined;
  const layer = Number.isInteger(given) && given < 0 ? given + layers : given;
  if (Number.isInteger(given) && layer >= 0 && layer <= layers) return layer;
  throw new ClearformerError('invalid_argument', `${option}: ${quoted(given)} of ${layers} layers`, { option });
}

/** The index of the first hook of a layer; behind the last layer if there is none. */
function placeOf(hooks: readonly HookPoint[], { prefix, layers }: Stack, layer: number): number {
  const names = hooks.map(({ name }) => name as string);
  const first = names.findIndex((name) => name.startsWith(`${prefix}${layer}.`));
  return first >= 0 ? first : names.findLastIndex((name) => name.startsWith(`${prefix}${layers - 1}.`)) + 1;
}

/**
 * The stacks that a residual stream given as input enters, and whose output is the model's; how names of a stack that
 * the pass leaves out begin.
 */
function stacksOf(cfg: ModelShape, inputs: ModelInputs): { first: Stack; last: Stack; absent?: string } {
  const stack = (prefix: string, shape: ModelShape): Stack => ({ prefix, layers: shape.n_layers });
  const both = (one: Stack) => ({ first: one, last: one });
  if (cfg.kind === 'encoder-decoder') {
    const source = inputs.input_ids ?? inputs.inputs_embeds ?? inputs.input_features ?? inputs.past_key_values;
    const generates = /^(base|seq2seq-lm)$/.test(String(cfg.task)); // else its decoder reads the source as well
    const target =
      inputs.decoder_input_ids ?? inputs.decoder_inputs_embeds ?? (source && (!generates || inputs.residual));
    const encoder = stack('encoder.', cfg.encoder as ModelShape);
    const last = target ? stack('decoder.', cfg) : encoder;
    const encoded = inputs.past_key_values?.isEmpty === false;
    return { first: source ? last : encoder, last, absent: encoded ? 'encoder.' : target ? '' : 'decoder.' };
  }
  if (cfg.kind !== 'dual-encoder') return both(stack('blocks.', cfg));
  const [text, image] = [inputs.input_ids !== undefined, inputs.pixel_values !== undefined];
  return {
    ...both(image ? stack('vision_model.blocks.', cfg.vision as ModelShape) : stack('text_model.blocks.', cfg)),
    absent: text === image ? '' : text ? 'vision_model.' : 'text_model.',
  };
}
