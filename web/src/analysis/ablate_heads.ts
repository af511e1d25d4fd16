// Head ablation: the change of a metric when one head's output is removed, for every head in turn.
// Source: Michel et al. 2019, "Are Sixteen Heads Really Better than One?", arXiv 1905.10650, section 3.2.

import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookName } from '../runtime/hook_names.js';
import { expectKnown } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import { checkCall, expectInputs } from './check_call.js';
import { axisOf, defaultHook, type LayerHook, layerHooks } from './layer_hooks.js';
import { measured } from './metric.js';
import { swept } from './sweep/one_edit.js';
import type { SweepOptions } from './sweep/sweep.js';

const call = 'ablateHeads';

/** Options of ablateHeads. */
export interface AblateHeadsOptions extends SweepOptions {
  /** What replaces a head's output: zeros, or its mean over the batch and positions of this input. */
  op?: 'zero' | 'mean' | undefined;
  /**
   * The hook of the heads, `*` for the layer. Default: self-attention's `hook_z` (the decoder's, for an
   * encoder-decoder).
   */
  hook?: LayerHook | undefined;
}

/** The result of ablateHeads. */
export interface HeadAblation {
  /** The metric of the unmodified model. */
  baseline: number;
  /** The change of the metric by each head's ablation, [n_layers, n_heads]. */
  changes: Tensor<'float32'>;
}

/**
 * Runs the model once unmodified and once for every head without it. Works for any model with attention, also in a
 * worker.
 * Rejects with `invalid_argument` for a metric that does not return a number and a hook without heads, with the abort
 * signal's reason, and as a call of the model does.
 */
export async function ablateHeads(
  model: PreTrainedModel,
  inputs: ModelInputs,
  options: AblateHeadsOptions,
): Promise<HeadAblation> {
  checkCall(call, model, options, ['metric', 'op', 'hook', 'signal', 'progress']);
  expectInputs(call, { inputs });
  const given = (options ?? {}) as AblateHeadsOptions;
  const { metric, op = 'zero', hook = defaultHook(model, 'attn.hook_z'), signal } = given;
  expectKnown(call, 'op', op, ['zero', 'mean']);
  const names = layerHooks(model, hook);
  const heads = axisOf(call, model, names[0] as HookName, 'head').extent as number;
  const baseline = await measured(call, metric, await model.run_with_hooks(inputs, { signal }));
  const values = await swept(call, model, inputs, given, names.length * heads, (at) => {
    return { hook: names[Math.floor(at / heads)] as HookName, head: at % heads, op };
  });
  const changes = Float32Array.from(values, (value) => value - baseline);
  return { baseline, changes: new Tensor('float32', changes, [names.length, heads]) };
}
