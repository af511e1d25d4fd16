// What a call wants to see and to change inside a forward pass.

import type { HookPoint, ModelShape, ObservationRequest } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';
import { type ActivationEdit, editsIn, type ForwardHook, functionsIn } from './edits.js';
import { type NamesFilter, resolveHooks } from './hooks.js';
import type { ModelInputs } from './inputs.js';

/** Changes inside a forward pass. */
export interface EditOptions {
  /** Changes said as data; in the order given, before the functions' activations are seen by later layers. */
  edits?: readonly ActivationEdit[] | undefined;
  /** Functions that see and change activations; for models in this thread (`worker: false`) only. They run before `edits`. */
  fwd_hooks?: readonly ForwardHook[] | undefined;
}

/** Where a forward pass ends. */
export interface StopOptions {
  /** The pass ends before this layer and gives the residual stream there; negative: from the end. See `run_with_cache`. */
  stop_at_layer?: number | undefined;
}

/** What the core is told, and what a function of the caller's threw. */
export interface Observation {
  request: ObservationRequest & { stop_at_layer?: number };
  /** What to throw in place of the core's error. */
  cause(thrown: unknown): unknown;
}

interface Wanted extends EditOptions {
  names_filter?: NamesFilter | undefined;
}

/** `names_filter` as it is; only what is in `hooks` can be meant. */
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

/** The layer a pass ends before, counted from 0, and the hook points it reaches. Throws `invalid_argument`. */
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

/** The stack whose layers are counted: that which makes the output. */
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
