// Captures and edits requested by a call, for a forward pass.

import type { HookPoint, ModelShape, ObservationRequest, RunInputs } from '../runtime/border.js';
import { ourName } from '../runtime/hook_names.js';
import { ClearformerError, textOf } from '../support/error.js';
import { type ActivationEdit, editsIn, type ForwardHook, functionsIn } from './edits.js';
import { type NameFilter, type NamesFilter, resolveHooks } from './hooks.js';
import type { ModelInputs } from './inputs.js';

/** Edits in a forward pass. */
export interface EditOptions {
  /** Edits given as data; applied in order, before later layers read the activations. */
  edits?: readonly ActivationEdit[] | undefined;
  /**
   * Functions that read and edit activations; only for models in this thread (`worker: false`). They run before
   * `edits`.
   */
  fwd_hooks?: readonly ForwardHook[] | undefined;
}

/** Where a forward pass ends. */
export interface StopOptions {
  /**
   * The pass ends before this layer and returns the residual stream there; negative: from the end. See
   * `run_with_cache`.
   */
  stop_at_layer?: number | undefined;
}

/** The request for the core, and the exception thrown by a caller's function. */
export interface Observation {
  request: ObservationRequest & { stop_at_layer?: number };
  /** The error to throw instead of the core's. */
  cause(thrown: unknown): unknown;
}

interface Wanted extends EditOptions {
  names_filter?: NamesFilter | undefined;
}

/** Converts `names_filter` and edits; they can only refer to hook points in `hooks`. */
export function observe(call: string, wanted: Wanted, hooks: readonly HookPoint[], remote: boolean): Observation {
  const { names_filter, edits, fwd_hooks } = wanted;
  if (fwd_hooks !== undefined && remote) {
    throw new ClearformerError(
      'unsupported',
      `${call}: fwd_hooks run in this thread, and the model is in a worker: use edits, or load it with worker: false`,
      { option: 'fwd_hooks' },
    );
  }
  const functions = fwd_hooks && functionsIn(call, fwd_hooks, hooks);
  const request: ObservationRequest = {
    ...(names_filter !== undefined && {
      names: resolveHooks('names_filter', hooks, names_filter).map(({ name }) => name),
    }),
    ...(edits && { edits: editsIn(call, edits, hooks) }),
    ...(functions && { fwd_hooks: functions.fwd_hooks }),
  };
  return { request, cause: (thrown) => functions?.failure()?.thrown ?? thrown };
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

/** The layer before which a pass ends, counted from 0, and the hook points it reaches. Throws `invalid_argument`. */
export function stopAt(
  stop: number,
  hooks: readonly HookPoint[],
  cfg: ModelShape,
  inputs: ModelInputs,
): { stop_at_layer: number; reached: HookPoint[] } {
  const { prefix, layers } = stackOf(cfg, inputs);
  const layer = stop < 0 ? stop + layers : stop;
  if (!Number.isInteger(stop) || layer < 0 || layer > layers) {
    throw new ClearformerError('invalid_argument', `stop_at_layer: ${String(stop)} of ${layers} layers`, {
      option: 'stop_at_layer',
    });
  }
  const names = hooks.map(({ name }) => name as string);
  const first = names.findIndex((name) => name.startsWith(`${prefix}${layer}.`));
  const end = names.findLastIndex((name) => name.startsWith(`${prefix}${layers - 1}.`)) + 1;
  return { stop_at_layer: layer, reached: hooks.slice(0, first < 0 ? end : first) };
}

/**
 * The positions of `logits_to_keep` as a list, empty for all. Throws `invalid_argument` if it is neither a whole number
 * nor a list of them.
 */
export function keptIn(given: number | readonly number[], { decoder_input_ids, input_ids }: RunInputs): number[] {
  const whole = [given].flat();
  const isCount = typeof given === 'number';
  if (whole.length === 0 || !whole.every((one) => Number.isSafeInteger(one) && (one >= 0 || !isCount))) {
    const message = `logits_to_keep: needs a number of positions or a list of them, got ${textOf(given)}`;
    throw new ClearformerError('invalid_argument', message, { option: 'logits_to_keep' });
  }
  if (!isCount) return whole;
  const [, length = 1] = (decoder_input_ids ?? input_ids)?.dims ?? [];
  const count = Math.min(given, length);
  return Array.from({ length: count }, (_, at) => at - count);
}

/** The stack whose layers are counted: the one that computes the output. */
function stackOf(cfg: ModelShape, inputs: ModelInputs): { prefix: string; layers: number } {
  const layersOf = (other: string) => (cfg[other] as ModelShape).n_layers;
  if (cfg.kind === 'encoder-decoder') {
    const encodes = inputs.decoder_input_ids === undefined;
    return encodes ? { prefix: 'encoder.', layers: layersOf('encoder') } : { prefix: 'decoder.', layers: cfg.n_layers };
  }
  if (cfg.kind !== 'dual-encoder') return { prefix: 'blocks.', layers: cfg.n_layers };
  return inputs.pixel_values === undefined
    ? { prefix: 'text_model.blocks.', layers: cfg.n_layers }
    : { prefix: 'vision_model.blocks.', layers: layersOf('vision') };
}
