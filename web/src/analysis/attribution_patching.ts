// Attribution patching: the effect of every patch of activation patching at once, to first order in the difference of
// the clean activation a and the corrupted one a':
//   metric(corrupted, a' := a) ≈ metric(corrupted) + Σ (a - a')·∂metric/∂a'
// It takes a forward pass on the clean input, and one forward and one backward on the corrupted input.
// Sources: Nanda 2023, "Attribution Patching"; Kramár et al. 2024, arXiv 2403.00745.

import type { DifferentiableMetric } from '../models/gradient_metric.js';
import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';
import { expectKnown } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import { checkCall, expectInputs, expectTerms } from './check_call.js';
import { axisOf, defaultHook, type LayerHook, layerHooks } from './layer_hooks.js';
import { requireSameDims } from './same_dims.js';

const call = 'attributionPatching';

/** Options of attributionPatching: those of patchActivations, with a metric that can be differentiated. */
export interface AttributionPatchingOptions {
  /** The clean inputs, and the corrupted inputs of the same dims. */
  clean: ModelInputs;
  corrupted: ModelInputs;
  metric: DifferentiableMetric;
  /** What one patch replaces: a position (default), a head, a head at a position, or the whole activation of a layer. */
  by?: 'position' | 'head' | 'head and position' | 'layer' | undefined;
  /**
   * The hook of the activation, `*` for the layer. Default: `blocks.*.hook_resid_pre`; by head `blocks.*.attn.hook_z`.
   */
  hook?: LayerHook | undefined;
  signal?: AbortSignal | undefined;
}

/** The result of attributionPatching. */
export interface AttributionPatching {
  /** The metric of the clean and of the corrupted input. */
  clean: number;
  corrupted: number;
  /**
   * The estimate of the metric with each patch, as `patched` of patchActivations: [n_layers, pos], [n_layers, n_heads],
   * [n_layers, n_heads, pos] or [n_layers]. Minus `corrupted` it is the attribution.
   */
  patched: Tensor<'float32'>;
  /** The hook of each row. */
  hooks: HookName[];
}

const ways = { position: ['position'], head: ['head'], 'head and position': ['head', 'position'], layer: [] } as const;

/**
 * Estimates what patchActivations measures, with three passes in place of one for each patch. The estimate is good
 * where the metric is nearly linear in the activation, poor where a patch changes much (Kramár et al., section 2.1).
 * Rejects with `shape_mismatch` if the activations of the two inputs have different dims, `unsupported` for scores that
 * a mask hides on one of them only, `invalid_argument` for a hook without such an axis, with the abort signal's reason,
 * and as `backward` does.
 */
export async function attributionPatching(
  model: PreTrainedModel,
  options: AttributionPatchingOptions,
): Promise<AttributionPatching> {
  checkCall(call, model, options ?? null, ['clean', 'corrupted', 'metric', 'by', 'hook', 'signal']);
  const { clean, corrupted, metric, by = 'position', hook, signal } = options;
  expectKnown(call, 'by', by, Object.keys(ways));
  expectTerms(call, metric);
  expectInputs(call, { clean, corrupted });
  const hooks = layerHooks(model, hook ?? defaultHook(model, by.startsWith('head') ? 'attn.hook_z' : 'hook_resid_pre'));
  const [first] = hooks as [HookName];
  const axes = ways[by].map((one) => axisOf(call, model, first, one).axis);
  const right = await model.backward(clean, { metric, names_filter: hooks, signal });
  const with_respect_to = { hooks };
  const wrong = await model.backward(corrupted, { metric, names_filter: hooks, with_respect_to, signal });
  const rows = hooks.map((name) => {
    const [a, b, gradient] = [right.activations[name], wrong.activations[name], wrong.grad[name]];
    return attributed(name, a as Tensor<'float32'>, b as Tensor<'float32'>, gradient as Tensor<'float32'>, axes);
  });
  const extents = axes.map((axis) => right.activations[first]?.dims[axis] ?? 0);
  const data = Float32Array.from(rows.flatMap((row) => [...row.map((value) => wrong.value + value)]));
  const patched = new Tensor('float32', data, [hooks.length, ...extents]);
  return { clean: right.value, corrupted: wrong.value, patched, hooks };
}

/** The sum of (a - b)·g over all axes but `axes`, in double precision. */
function attributed(
  name: HookName,
  a: Tensor<'float32'>,
  b: Tensor<'float32'>,
  gradient: Tensor<'float32'>,
  axes: readonly number[],
): Float64Array {
  const dims = requireSameDims(call, name, a, b);
  const strides = dims.map((_, axis) => dims.slice(axis + 1).reduce((product, extent) => product * extent, 1));
  const sums = new Float64Array(axes.reduce((product, axis) => product * (dims[axis] ?? 1), 1));
  for (let i = 0; i < a.data.length; i++) {
    let at = 0;
    for (const axis of axes) {
      const extent = dims[axis] ?? 1;
      at = at * extent + (Math.floor(i / (strides[axis] ?? 1)) % extent);
    }
    const difference = (a.data[i] as number) - (b.data[i] as number);
    // Scores that a mask hides are -Infinity in both, with a gradient of 0.
    if (difference === 0 || Number.isNaN(difference)) continue;
    if (!Number.isFinite(difference)) {
      throw new ClearformerError('unsupported', `${call}: a mask hides ${name} on one of the inputs only`);
    }
    sums[at] = (sums[at] as number) + difference * (gradient.data[i] as number);
  }
  return sums;
}
