// Activation patching: the model runs on a corrupted input with one activation replaced by its value on the clean
// input. If that restores the clean output, the activation carries the difference.
// Sources: Meng et al. 2022, arXiv 2202.05262 (causal tracing); Heimersheim & Nanda 2024, arXiv 2404.15255.

import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookName } from '../runtime/hook_names.js';
import { expectKnown } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import { checkCall, expectInputs } from './check_call.js';
import { axisOf, defaultHook, type LayerHook, layerHooks } from './layer_hooks.js';
import { measured } from './metric.js';
import { requireSameDims } from './same_dims.js';
import { swept } from './sweep/one_edit.js';
import type { SweepOptions } from './sweep/sweep.js';

type Floats = Tensor<'float32'>;

const call = 'patchActivations';

/** Options of patchActivations. */
export interface PatchActivationsOptions extends SweepOptions {
  /** The clean inputs, and the corrupted inputs of the same dims. */
  clean: ModelInputs;
  corrupted: ModelInputs;
  /** What one patch replaces: a position (default), a head, or the whole activation of a layer. */
  by?: 'position' | 'head' | 'layer' | undefined;
  /**
   * The hook of the activation, `*` for the layer. Default: `blocks.*.hook_resid_pre`; by head `blocks.*.attn.hook_z`.
   */
  hook?: LayerHook | undefined;
}

/** The result of patchActivations. */
export interface ActivationPatching {
  /** The metric of the clean and of the corrupted input. */
  clean: number;
  corrupted: number;
  /** The metric with each patch: [n_layers, pos], [n_layers, n_heads] or [n_layers]. */
  patched: Tensor<'float32'>;
  /** The hook replaced in each row. */
  hooks: HookName[];
}

const known = ['clean', 'corrupted', 'metric', 'by', 'hook', 'signal', 'progress'];
const ways = ['position', 'head', 'layer'];

/**
 * Runs the model on both inputs, then on the corrupted one once per patch. Works for any model, also in a worker;
 * positions of attention maps and scores are those of queries. Rejects with `shape_mismatch` if the activations of the
 * two inputs have different dims, `invalid_argument` for a hook without such an axis and a metric that does not return
 * a number, with the abort signal's reason, and as a call of the model does.
 */
export async function patchActivations(
  model: PreTrainedModel,
  options: PatchActivationsOptions,
): Promise<ActivationPatching> {
  checkCall(call, model, options, known);
  const given = (options ?? {}) as PatchActivationsOptions;
  const { clean, corrupted, metric, by = 'position', signal } = given;
  expectKnown(call, 'by', by, ways);
  expectInputs(call, { clean, corrupted });
  const hooks = layerHooks(model, given.hook ?? usualHook(model, by));
  const [first] = hooks as [HookName];
  const [right, cache] = await model.run_with_cache(clean, { names_filter: hooks, signal });
  const [wrong, other] = await model.run_with_cache(corrupted, { names_filter: first, signal });
  const shape = requireSameDims(call, first, cache[first] as Floats, other[first] as Floats);
  const baselines = { clean: await measured(call, metric, right), corrupted: await measured(call, metric, wrong) };
  const axis = by === 'layer' ? undefined : axisOf(call, model, first, by).axis;
  const extent = axis === undefined ? 1 : (shape[axis] ?? 0);
  const values = await swept(call, model, corrupted, given, hooks.length * extent, (at) => {
    const name = hooks[Math.floor(at / extent)] as HookName;
    return patchOf(name, cache[name] as Tensor<'float32'>, axis, by, at % extent);
  });
  const dims = axis === undefined ? [hooks.length] : [hooks.length, extent];
  return { ...baselines, patched: new Tensor('float32', values, dims), hooks };
}

const usualHook = (model: PreTrainedModel, by: string) =>
  defaultHook(model, by === 'head' ? 'attn.hook_z' : 'hook_resid_pre');

function patchOf(hook: HookName, value: Tensor<'float32'>, axis: number | undefined, by: string, index: number) {
  if (axis === undefined) return { hook, op: 'replace', value } as const;
  const parts = value.dims.map((_, at) => (at === axis ? index : null));
  return { hook, op: 'replace', value: value.slice(...parts), [by === 'head' ? 'head' : 'pos']: index } as const;
}
