// The base run of a sweep: its logits, and what passes with interventions take from it instead of computing it again,
// the residual stream before each layer, the keys and values of a prefix, and those of an encoder's output.

import type { ActivationEdit } from '../../models/edits.js';
import { forwardIn, type ModelInputs } from '../../models/inputs.js';
import { KeyValueCache } from '../../models/key_value_cache.js';
import { keptIn } from '../../models/observation.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import type { ModelShape, RunInputs, TensorIn } from '../../runtime/border.js';
import type { HookName } from '../../runtime/hook_names.js';
import type { Tensor } from '../../tensor/tensor.js';
import { expectInputs } from '../check_call.js';
import { concernsAllRows, type Extent, expanded, layerOf } from './intervention.js';

type Floats = Tensor<'float32'>;

/** What a pass captures, and the layer before which it ends. */
export interface Capture {
  names_filter: readonly HookName[];
  stop_at_layer: number;
}

/** What a base run is of. */
export interface BaseRequest {
  base: ModelInputs;
  edits: readonly ActivationEdit[];
  logits_to_keep?: number | readonly number[] | undefined;
  /** Activations to capture in each pass, and where it ends; it then computes all positions. */
  capture?: Capture | undefined;
  signal: AbortSignal | undefined;
}

/** The base run on one model. */
export interface BaseRun {
  model: PreTrainedModel;
  /** The inputs as tensors [batch, …]. */
  inputs: RunInputs;
  batch: number;
  /** The most positions of a row. */
  positions: number;
  extent: Extent;
  /** The edits in force in every pass, one per hook. */
  edits: readonly ActivationEdit[];
  /** The logits of the positions `kept` (all if undefined), or the output that the model has instead. */
  logits: Floats;
  kept: number[] | undefined;
  /** The residual stream [batch, pos, d_model] before each layer; undefined if passes begin with the inputs. */
  residuals: readonly (Floats | undefined)[];
  /** Keys and values of all positions; undefined if passes compute all positions. */
  cache: KeyValueCache | undefined;
}

/** With positions of every row, where one row is given for all. */
function inAllRows(inputs: RunInputs): RunInputs {
  const all = { ...inputs };
  for (const side of ['', 'decoder_'] as const) {
    const name = `${side}position_ids` as const;
    const text = inputs[`${side}input_ids` as const] ?? inputs[`${side}inputs_embeds` as const];
    if (inputs[name]?.dims[0] === 1) all[name] = tiled(inputs[name], text?.dims[0] ?? 1);
  }
  return all;
}

/** Rows, positions of the text and of the decoder's, and the most positions of any of the inputs. */
function sizesOf(inputs: RunInputs) {
  const { input_ids, inputs_embeds, pixel_values, input_features, decoder_input_ids, decoder_inputs_embeds } = inputs;
  const text = input_ids ?? inputs_embeds;
  const targets = (decoder_input_ids ?? decoder_inputs_embeds)?.dims[1] ?? 0;
  const [batch = 0, length = 0] = (text ?? pixel_values ?? input_features ?? decoder_input_ids)?.dims ?? [];
  const frames = Math.ceil((input_features?.dims[2] ?? 0) / 2);
  const longest = Math.max(text ? length : 0, targets, frames);
  return { batch, length: text ? length : 0, targets, longest };
}

/**
 * Whether later positions never change earlier ones, keys and values are kept as they are computed, and no layer has a
 * state that a part of the text cannot be taken of.
 */
function sharesPrefix(model: PreTrainedModel, targets: number): boolean {
  const { kind, task } = model.cfg;
  const { is_causal, use_bidirectional_attention } = model.config;
  const causal = is_causal !== false && (use_bidirectional_attention ?? false) === false;
  const predicts = kind === 'decoder-only' ? task === 'causal-lm' : task === 'seq2seq-lm' && targets > 0;
  const divisible = !model.hooks().some(({ name }) => name.endsWith('.delta.hook_state'));
  return predicts && causal && divisible && model.info().cache_dtype === 'fp32';
}

/** Runs the base, and keeps what passes share; `of` is that of another model with the same weights. */
export async function baseRun(model: PreTrainedModel, request: BaseRequest, of?: BaseRun): Promise<BaseRun> {
  const { base, logits_to_keep, signal } = request;
  expectInputs('sweep', { base });
  const inputs = inAllRows(forwardIn('sweep', base, model.open().engine));
  const { kind, n_layers: layers } = model.cfg;
  const { batch, length: texts, targets, longest } = sizesOf(inputs);
  const cache = request.capture === undefined && sharesPrefix(model, targets) ? new KeyValueCache() : undefined;
  const decodes = kind === 'encoder-decoder' && cache !== undefined;
  const startable = decodes || kind === 'decoder-only' || kind === 'encoder-only';
  const hooks = model.hooks({ on_request: true });
  const stack = decodes ? 'decoder.' : 'blocks.';
  const length = decodes ? targets : texts;
  const source = decodes ? (model.cfg.encoder as ModelShape).n_layers : 0;
  const extent: Extent = startable
    ? { hooks, stack, layers, length, source }
    : { hooks, stack: '?', layers: 1, length: 0, source };
  const list = logits_to_keep === undefined ? [] : keptIn(logits_to_keep, inputs);
  const counted = list.map((one) => (cache && one < 0 ? one + length : one));
  const kept = counted.length > 0 ? counted : undefined;
  const edits = expanded('edits', request.edits, extent);
  const later = Array.from({ length: layers - 1 }, (_, at) => residualHook(extent, at + 1));
  const names_filter = of === undefined && startable ? later : () => false;
  const given = cache === undefined ? base : { ...base, past_key_values: cache };
  const [logits, captured] = await model.run_with_cache(given, { edits, names_filter, logits_to_keep, signal });
  const residuals =
    of?.residuals ?? Array.from({ length: layers }, (_, layer) => captured[residualHook(extent, layer)]);
  const positions = Math.max(1, longest, residuals[1]?.dims[1] ?? 0);
  return { model, inputs, batch, extent, positions, edits, logits, kept, residuals, cache };
}

const residualHook = ({ stack }: Extent, layer: number) => `${stack}${layer}.hook_resid_pre` as HookName;

/** The base run's edits that are still to be made in a pass that begins before `layer`. */
export function editsFrom({ edits, extent }: BaseRun, layer: number): ActivationEdit[] {
  const skipped = layer > 0 ? residualHook(extent, layer) : undefined;
  return edits.filter(({ hook }) => layerOf(extent, hook as HookName) >= layer && hook !== skipped);
}

/** Whether a value has positions of its own, so that it only fits a pass over all of them. */
const hasPositions = ({ pos, value, min, max }: ActivationEdit): boolean =>
  [value, min, max].some((one) => {
    const { dims } = (one ?? {}) as { dims?: readonly number[] };
    return Array.isArray(one) || (pos === undefined && Array.isArray(dims) && dims.length > 1);
  });

/** Whether queries may attend to keys behind them, so that what is computed of a prefix depends on what follows it. */
const looksAhead = ({ hook, op, pos }: ActivationEdit): boolean => {
  const [, place] = /(?<!cross_)attn\.hook_(attn_scores|pattern)$/.exec(hook as HookName) ?? [];
  return place !== undefined && pos === undefined && op !== 'scale' && !(place === 'pattern' && op === 'zero');
};

/** The last position at which a pass with these edits of the base run can begin. */
export function latestStart(edits: readonly ActivationEdit[], { extent, kept }: BaseRun): number {
  const positions = edits.map((edit) => {
    if (concernsAllRows(edit) || hasPositions(edit) || looksAhead(edit)) return 0;
    return edit.pos === undefined ? extent.length : Math.max(0, Math.min(...[edit.pos].flat()));
  });
  return Math.min(extent.length - 1, ...(kept === undefined ? [] : [Math.max(...kept)]), ...positions);
}

/** A tensor [batch, …] as the rows of several interventions. */
export function tiled({ data, dims }: TensorIn, times: number): TensorIn {
  const all = new (data.constructor as Float32ArrayConstructor)(data.length * times);
  for (let at = 0; at < times; at++) all.set(data as Float32Array, at * data.length);
  return { data: all, dims: [(dims[0] ?? 0) * times, ...dims.slice(1)] };
}

/** The positions from `first` on of a tensor [batch, pos, …]. */
export function positionsFrom({ data, dims }: TensorIn, first: number): TensorIn {
  const [batch = 0, length = 0, ...rest] = dims;
  const width = rest.reduce((product, extent) => product * extent, 1);
  const part = new (data.constructor as Float32ArrayConstructor)(batch * (length - first) * width);
  for (let row = 0; row < batch; row++) {
    const from = row * length * width;
    part.set(
      (data as Float32Array).subarray(from + first * width, from + length * width),
      row * (length - first) * width,
    );
  }
  return { data: part, dims: [batch, length - first, ...rest] };
}
