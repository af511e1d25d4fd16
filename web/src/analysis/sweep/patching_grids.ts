// TransformerLens' activation patching grids, under its names: the corrupted input runs once per layer, position and
// head with one part of one activation replaced by its value on the clean input, as one sweep.
// Source: TransformerLens, patching.py; definitions in tests/references/patching.py.

import type { ActivationEdit } from '../../models/edits.js';
import type { ModelInputs } from '../../models/inputs.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import type { HookName } from '../../runtime/hook_names.js';
import { refusedOption } from '../../support/options.js';
import type { ActivationCache } from '../../tensor/activation_cache.js';
import { exportedTensor } from '../../tensor/exported_tensor.js';
import { stack } from '../../tensor/operations.js';
import { Tensor } from '../../tensor/tensor.js';
import { checkCall, expectInputs } from '../check_call.js';
import { defaultHook, layerHooks } from '../layer_hooks.js';
import type { Metric, TensorMetric } from '../metric.js';
import { requireSameDims } from '../same_dims.js';
import { type SweepCallOptions, sweepFor } from './sweep.js';

type Floats = Tensor<'float32'>;

/** Options of the grids. */
export type PatchingGridOptions = Pick<SweepCallOptions, 'signal' | 'progress' | 'logits_to_keep'>;

/**
 * Patches a model, or several with the same weights, on the corrupted inputs with activations of `clean_cache`, which
 * `run_with_cache` returned for clean inputs of the same dims. Rejects like `sweep`, with `invalid_argument` if the cache
 * lacks the activation, `shape_mismatch` if it has other dims.
 */
export type PatchingGrid = (
  models: PreTrainedModel | readonly PreTrainedModel[],
  corrupted: ModelInputs,
  clean_cache: ActivationCache,
  patching_metric: Metric | TensorMetric,
  options?: PatchingGridOptions,
) => Promise<Floats>;

/** An axis of a grid behind the layers: how an edit selects from it, and the axis of the activation. */
type GridAxis = readonly ['pos' | 'key_pos' | 'head', number];

const pos: GridAxis = ['pos', 1];
const head: GridAxis = ['head', 2];
const patternHead: GridAxis = ['head', 1];
const dest: GridAxis = ['pos', 2];
const src: GridAxis = ['key_pos', 3];

/** The part of an activation with these indices in its axes. */
function partOf(value: Floats, axes: readonly GridAxis[], indices: readonly number[]): Floats {
  const slices = value.dims.map((_, at) => indices[axes.findIndex(([, axis]) => axis === at)] ?? null);
  return value.slice(...slices) as Floats;
}

function cleanValue(call: string, cache: ActivationCache, hook: HookName): Floats {
  const value = cache?.[hook];
  if (value !== undefined) return exportedTensor(`${call}: clean_cache`, value) as Floats;
  throw refusedOption(call, 'clean_cache', `has no ${hook}: capture it with run_with_cache`);
}

/** The grid get_act_patch_`name`, [layer, …axes], over the activation with this name in each layer. */
function gridOf(name: string, leaf: string, ...axes: GridAxis[]): PatchingGrid {
  const call = `get_act_patch_${name}`;
  return async (models, corrupted, clean_cache, metric, options = {}) => {
    const [model] = [models].flat() as [PreTrainedModel];
    checkCall(call, model, options, ['signal', 'progress', 'logits_to_keep']);
    expectInputs(call, { corrupted });
    const hooks = layerHooks(model, defaultHook(model, leaf));
    const clean = hooks.map((hook) => cleanValue(call, clean_cache, hook));
    const [first] = hooks as [HookName];
    const [, cache] = await model.run_with_cache(corrupted, { names_filter: first, signal: options.signal });
    for (const value of clean) requireSameDims(`${call}: clean_cache`, first, value, cache[first] as Floats);
    const extents = axes.map(([, axis]) => clean[0]?.dims[axis] ?? 0);
    const size = extents.reduce((product, extent) => product * extent, 1);
    const at = (index: number): ActivationEdit => {
      const indices: number[] = [];
      let layer = index; // once it is divided by the extents
      for (const extent of [...extents].reverse()) {
        indices.unshift(layer % extent);
        layer = Math.floor(layer / extent);
      }
      const selected = Object.fromEntries(axes.map(([name], place) => [name, indices[place]]));
      const value = partOf(clean[layer] as Floats, axes, indices);
      return { hook: hooks[layer] as HookName, op: 'replace', value, ...selected };
    };
    const interventions = { length: hooks.length * size, at };
    const { values } = await sweepFor(call, models, { base: corrupted, metric, interventions, ...options });
    return new Tensor('float32', values, [hooks.length, ...extents]);
  };
}

/** The residual stream before each layer: [n_layers, pos]. */
export const get_act_patch_resid_pre: PatchingGrid = gridOf('resid_pre', 'hook_resid_pre', pos);
/** The residual stream between attention and MLP: [n_layers, pos]. Not for layers that compute both at once. */
export const get_act_patch_resid_mid: PatchingGrid = gridOf('resid_mid', 'hook_resid_mid', pos);
/** The residual stream after each layer (not one of TransformerLens'): [n_layers, pos]. */
export const get_act_patch_resid_post: PatchingGrid = gridOf('resid_post', 'hook_resid_post', pos);
/** The output of each attention: [n_layers, pos]. */
export const get_act_patch_attn_out: PatchingGrid = gridOf('attn_out', 'hook_attn_out', pos);
/** The output of each MLP: [n_layers, pos]. */
export const get_act_patch_mlp_out: PatchingGrid = gridOf('mlp_out', 'hook_mlp_out', pos);
/** Each head's output z: [n_layers, pos, n_heads]. */
export const get_act_patch_attn_head_out_by_pos: PatchingGrid = gridOf(
  'attn_head_out_by_pos',
  'attn.hook_z',
  pos,
  head,
);
/** Each head's queries: [n_layers, pos, n_heads]. */
export const get_act_patch_attn_head_q_by_pos: PatchingGrid = gridOf('attn_head_q_by_pos', 'attn.hook_q', pos, head);
/** Each head's keys: [n_layers, pos, n_key_value_heads]. */
export const get_act_patch_attn_head_k_by_pos: PatchingGrid = gridOf('attn_head_k_by_pos', 'attn.hook_k', pos, head);
/** Each head's values: [n_layers, pos, n_key_value_heads]. */
export const get_act_patch_attn_head_v_by_pos: PatchingGrid = gridOf('attn_head_v_by_pos', 'attn.hook_v', pos, head);
/** A row of each head's pattern: [n_layers, n_heads, dest_pos]. */
export const get_act_patch_attn_head_pattern_by_pos: PatchingGrid = gridOf(
  'attn_head_pattern_by_pos',
  'attn.hook_pattern',
  patternHead,
  dest,
);
/** An element of each head's pattern: [n_layers, n_heads, dest_pos, src_pos]. */
export const get_act_patch_attn_head_pattern_dest_src_pos: PatchingGrid = gridOf(
  'attn_head_pattern_dest_src_pos',
  'attn.hook_pattern',
  patternHead,
  dest,
  src,
);
/** Each head's output z at all positions: [n_layers, n_heads]. */
export const get_act_patch_attn_head_out_all_pos: PatchingGrid = gridOf('attn_head_out_all_pos', 'attn.hook_z', head);
/** Each head's queries at all positions: [n_layers, n_heads]. */
export const get_act_patch_attn_head_q_all_pos: PatchingGrid = gridOf('attn_head_q_all_pos', 'attn.hook_q', head);
/** Each head's keys at all positions: [n_layers, n_key_value_heads]. */
export const get_act_patch_attn_head_k_all_pos: PatchingGrid = gridOf('attn_head_k_all_pos', 'attn.hook_k', head);
/** Each head's values at all positions: [n_layers, n_key_value_heads]. */
export const get_act_patch_attn_head_v_all_pos: PatchingGrid = gridOf('attn_head_v_all_pos', 'attn.hook_v', head);
/** Each head's pattern: [n_layers, n_heads]. */
export const get_act_patch_attn_head_pattern_all_pos: PatchingGrid = gridOf(
  'attn_head_pattern_all_pos',
  'attn.hook_pattern',
  patternHead,
);

/** The last axis filled up with zeros to `extent`, as TransformerLens does for grouped keys and values. */
function padded({ data, dims }: Floats, extent: number): Floats {
  const own = dims.at(-1) ?? 0;
  const rows = data.length / own;
  const all = new Float32Array(rows * extent);
  for (let row = 0; row < rows; row++) all.set(data.subarray(row * own, (row + 1) * own), row * extent);
  return new Tensor('float32', all, [...dims.slice(0, -1), extent]);
}

/** Grids of the same dims, or padded to the first one's, as [grid, …]. */
function stacked(...grids: PatchingGrid[]): PatchingGrid {
  return async (...given) => {
    const results: Floats[] = [];
    for (const grid of grids) {
      const result = await grid(...given);
      results.push(padded(result, (results[0] ?? result).dims.at(-1) ?? 0));
    }
    return stack(results) as Floats;
  };
}

/** The grids of each head's output, queries, keys and values for `name`, which stacks them. */
const headGrids = (name: string, ...axes: GridAxis[]): PatchingGrid[] =>
  ['z', 'q', 'k', 'v'].map((part) => gridOf(name, `attn.hook_${part}`, ...axes));

const allPos = 'attn_head_all_pos_every';
/** Output, queries, keys, values and pattern of each head: [5, n_layers, n_heads]; grouped heads are followed by 0. */
export const get_act_patch_attn_head_all_pos_every: PatchingGrid = stacked(
  ...headGrids(allPos, head),
  gridOf(allPos, 'attn.hook_pattern', patternHead),
);

const byPos = 'attn_head_by_pos_every';
const patternByPos = gridOf(byPos, 'attn.hook_pattern', patternHead, dest);
/** The same by position, of the pattern by that of the query: [5, n_layers, pos, n_heads]. */
export const get_act_patch_attn_head_by_pos_every: PatchingGrid = stacked(
  ...headGrids(byPos, pos, head),
  async (...given) => (await patternByPos(...given)).permute(0, 2, 1) as Floats,
);

/** The residual stream before each layer, the output of its attention and of its MLP: [3, n_layers, pos]. */
export const get_act_patch_block_every: PatchingGrid = stacked(
  ...['resid_pre', 'attn_out', 'mlp_out'].map((leaf) => gridOf('block_every', `hook_${leaf}`, pos)),
);
