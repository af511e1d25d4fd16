// Direct path patching: what one head's output changes in the queries, keys or values of each later head, with the norm's
// divisor kept as it is on the corrupted input:
//   δ = (z_clean − z_corrupted)·W_O,  q ← q + (δ / scale)·W_Q
// where W_O is centred and the norm's weight is folded into W_Q.
// Source: TransformerLens, direct_path_patching.py.

import type { ActivationEdit } from '../../models/edits.js';
import type { ModelInputs } from '../../models/inputs.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import type { HookName } from '../../runtime/hook_names.js';
import { textOf } from '../../support/error.js';
import { expectKnown } from '../../support/options.js';
import type { ActivationCache } from '../../tensor/activation_cache.js';
import { exportedTensor } from '../../tensor/exported_tensor.js';
import { Tensor } from '../../tensor/tensor.js';
import { toTensor } from '../../tensor/tensor_output.js';
import { checkCall, invalid } from '../check_call.js';
import { attentionScale, inLayer, requireAttention } from '../layer_hooks.js';
import { LensWeights } from '../lens_weights.js';
import type { Metric, TensorMetric } from '../metric.js';
import { refusal, requireSum } from '../residual_parts.js';
import { requireSameDims } from '../same_dims.js';
import type { PatchingGridOptions } from './patching_grids.js';
import { sweepFor } from './sweep.js';

type Floats = Tensor<'float32'>;

/** Options of get_act_patch_direct_path. */
export interface DirectPathOptions extends PatchingGridOptions {
  /** The head whose output is patched. */
  src_layer: number;
  src_head: number;
  /** What it is patched into: queries (default), keys or values. */
  component?: 'q' | 'k' | 'v' | undefined;
}

const shared = ['component', 'signal', 'progress', 'logits_to_keep'];
const known = ['src_layer', 'src_head', ...shared];

function capturedIn(call: string, cache: ActivationCache, name: string, option: string): Floats {
  const value = cache?.[name as HookName];
  if (value === undefined) throw invalid(call, `${option} has no ${name}`, option);
  return exportedTensor(call, value) as Floats;
}

/** One head of x [batch, pos, head, d_head]. */
const ofHead = (x: Floats, head: number) => x.slice(null, null, head, null) as Floats;

/** x [batch, pos, n]·W [n, m]. */
async function times(model: PreTrainedModel, x: Floats, w: Floats): Promise<Floats> {
  const tensorIn = ({ data, dims }: Floats) => ({ data, dims: [...dims] });
  return toTensor(await model.open().engine.call('matmul', { x: tensorIn(x), y: tensorIn(w) })) as Floats;
}

/**
 * Patches the paths from one head to each head of the later layers: [n_layers, n_heads], for keys and values
 * [n_layers, n_key_value_heads]; 0 where there is no path. `clean_cache` needs the head's `hook_z`, `corrupted_cache` it
 * and the later layers' `ln1.hook_scale`. Rejects like `sweep`, with `invalid_argument` for what a cache lacks,
 * `shape_mismatch` for caches of different dims, `unsupported` for models with norms behind what their heads add or with
 * two stacks (encoder-decoders).
 */
export async function get_act_patch_direct_path(
  model: PreTrainedModel,
  corrupted: ModelInputs,
  clean_cache: ActivationCache,
  corrupted_cache: ActivationCache,
  patching_metric: Metric | TensorMetric,
  options: DirectPathOptions,
): Promise<Floats> {
  const call = 'get_act_patch_direct_path';
  checkCall(call, model, options ?? null, known);
  return pathsFrom(call, model, corrupted, clean_cache, corrupted_cache, patching_metric, options);
}

/** `get_act_patch_direct_path` for the function `call`, which its errors name. */
async function pathsFrom(
  call: string,
  ...[model, corrupted, clean_cache, corrupted_cache, patching_metric, options]: Parameters<
    typeof get_act_patch_direct_path
  >
): Promise<Floats> {
  const { src_layer, src_head, component = 'q', ...rest } = options;
  expectKnown(call, 'component', component, ['q', 'k', 'v']);
  const { n_layers, n_heads } = model.cfg;
  for (const [option, index, extent] of [
    ['src_layer', src_layer, n_layers],
    ['src_head', src_head, n_heads],
  ] as const) {
    if (Number.isInteger(index) && index >= 0 && index < extent) continue;
    throw invalid(call, `${option}: ${textOf(index)}, not 0 to ${extent - 1}`, option);
  }
  requireSum(call, model);
  requireAttention(call, model);
  if (model.cfg.kind === 'encoder-decoder' || model.cfg.kind === 'dual-encoder') {
    throw refusal(call, model, 'only the weights of models with one stack are folded');
  }
  const weights = new LensWeights(model, {
    fold_ln: true,
    with_adapters: true,
    center_writing_weights: model.cfg.normalization_type === 'LN',
  });
  const z = inLayer(model, src_layer, 'attn.hook_z');
  const clean = capturedIn(call, clean_cache, z, 'clean_cache');
  const own = capturedIn(call, corrupted_cache, z, 'corrupted_cache');
  requireSameDims(call, z, clean, own);
  const difference = ofHead(clean, src_head).sub(ofHead(own, src_head)) as Floats;
  const w_o = (await weights.W_O(src_layer)).slice(src_head, null, null) as Floats;
  const delta = (await times(model, difference, w_o)).mul(await attentionScale(model, src_layer));
  const interventions: ActivationEdit[] = [];
  const heads = (await matrixOf(weights, component, src_layer)).dims[0] as number;
  for (let layer = src_layer + 1; layer < n_layers; layer++) {
    const scale = capturedIn(call, corrupted_cache, inLayer(model, layer, 'ln1.hook_scale'), 'corrupted_cache');
    const seen = delta.div(scale) as Floats;
    const all = await matrixOf(weights, component, layer);
    for (let head = 0; head < heads; head++) {
      const value = await times(model, seen, all.slice(head, null, null) as Floats);
      const hook = inLayer(model, layer, `attn.hook_${component}`) as HookName;
      interventions.push({ hook, head, op: 'add', value });
    }
  }
  const { values } = await sweepFor(call, model, { base: corrupted, metric: patching_metric, interventions, ...rest });
  const result = new Float32Array(n_layers * heads);
  result.set(values, (src_layer + 1) * heads);
  return new Tensor('float32', result, [n_layers, heads]);
}

const matrixOf = (weights: LensWeights, component: 'q' | 'k' | 'v', layer: number): Promise<Floats> =>
  weights[`W_${component.toUpperCase() as 'Q' | 'K' | 'V'}`](layer);

/**
 * The same from every head: [n_layers, n_heads, n_layers, n_heads], or n_key_value_heads last for `k` and `v`. The
 * caches need the `hook_z` of all layers.
 */
export async function get_act_patch_direct_path_all_sources(
  model: PreTrainedModel,
  corrupted: ModelInputs,
  clean_cache: ActivationCache,
  corrupted_cache: ActivationCache,
  patching_metric: Metric | TensorMetric,
  options: Omit<DirectPathOptions, 'src_layer' | 'src_head'> = {},
): Promise<Floats> {
  const call = 'get_act_patch_direct_path_all_sources';
  checkCall(call, model, options, shared);
  const { n_layers, n_heads } = model.cfg;
  const parts: Floats[] = [];
  for (let source = 0; source < (n_layers - 1) * n_heads; source++) {
    const from = { src_layer: Math.floor(source / n_heads), src_head: source % n_heads };
    const caches = [clean_cache, corrupted_cache] as const;
    parts.push(await pathsFrom(call, model, corrupted, ...caches, patching_metric, { ...options, ...from }));
  }
  const heads = parts[0]?.dims[1] ?? n_heads;
  const all = new Float32Array(n_layers * n_heads * n_layers * heads);
  parts.forEach(({ data }, at) => {
    all.set(data, at * data.length);
  });
  return new Tensor('float32', all, [n_layers, n_heads, n_layers, heads]);
}
