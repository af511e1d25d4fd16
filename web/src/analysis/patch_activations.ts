// Activation patching: the model runs on a corrupted input, and one activation is replaced by what it was on the clean
// one. Where that brings the clean answer back, what makes the difference has passed.
// Sources: Meng et al. 2022, arXiv 2202.05262 (causal tracing); Heimersheim & Nanda 2024, arXiv 2404.15255.

import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import type { ActivationCache } from '../tensor/tensor_output.js';
import { axisOf, defaultHook, type LayerHook, layerHooks } from './layer_hooks.js';
import { measured } from './metric.js';
import { type SweepOptions, sweep } from './sweep.js';

const call = 'patchActivations';

/** Options of patchActivations. */
export interface PatchActivationsOptions extends SweepOptions {
  /** Inputs with the answer that is looked for, and inputs of the same dims without it. */
  clean: ModelInputs;
  corrupted: ModelInputs;
  /** What is replaced at a time: a position (default), a head, or the activation of a layer as a whole. */
  by?: 'position' | 'head' | 'layer' | undefined;
  /** Which activation, `*` for the layer. Default: `blocks.*.hook_resid_pre`, by head `blocks.*.attn.hook_z`. */
  hook?: LayerHook | undefined;
}

/** What patchActivations found. */
export interface ActivationPatching {
  /** The metric on the clean and on the corrupted input. */
  clean: number;
  corrupted: number;
  /** The metric with each patch: [n_layers, pos], [n_layers, n_heads] or [n_layers]. */
  patched: Tensor<'float32'>;
  /** The hook that each of its rows replaced. */
  hooks: HookName[];
}

const known = ['clean', 'corrupted', 'metric', 'by', 'hook', 'signal', 'progress'];
const ways = ['position', 'head', 'layer'];

/**
 * Runs the model on both inputs, then on the corrupted one once for every patch. Any model; positions of attention maps
 * and scores are those of queries. It works in a worker, too. Rejects with `shape_mismatch` when the activations of both
 * inputs have different dims, `invalid_argument` for a hook without such an axis and a metric that gives no number, with
 * the signal's reason, and as a call of the model does.
 */
export async function patchActivations(
  model: PreTrainedModel,
  options: PatchActivationsOptions,
): Promise<ActivationPatching> {
  checkOptions(call, options, known);
  const given = (options ?? {}) as PatchActivationsOptions;
  const { clean, corrupted, metric, by = 'position', signal } = given;
  if (!ways.includes(by)) {
    const message = `${call}: unknown by '${String(by)}' (known: ${ways.join(', ')})`;
    throw new ClearformerError('unsupported', message, { option: 'by' });
  }
  const hooks = layerHooks(model, given.hook ?? usualHook(model, by));
  const [first] = hooks as [HookName];
  const [right, cache] = await model.run_with_cache(clean, { names_filter: hooks, signal });
  const [wrong, other] = await model.run_with_cache(corrupted, { names_filter: first, signal });
  const shape = requireSameDims(first, cache, other);
  const baselines = { clean: await measured(call, metric, right), corrupted: await measured(call, metric, wrong) };
  const axis = by === 'layer' ? undefined : axisOf(call, model, first, by).axis;
  const extent = axis === undefined ? 1 : (shape[axis] ?? 0);
  const values = await sweep(call, model, corrupted, given, hooks.length * extent, (at) => {
    const name = hooks[Math.floor(at / extent)] as HookName;
    return patchOf(name, cache[name] as Tensor<'float32'>, axis, by, at % extent);
  });
  const dims = axis === undefined ? [hooks.length] : [hooks.length, extent];
  return { ...baselines, patched: new Tensor('float32', Float32Array.from(values), dims), hooks };
}

const usualHook = (model: PreTrainedModel, by: string) =>
  defaultHook(model, by === 'head' ? 'attn.hook_z' : 'hook_resid_pre');

function patchOf(hook: HookName, value: Tensor<'float32'>, axis: number | undefined, by: string, index: number) {
  if (axis === undefined) return { hook, op: 'replace', value } as const;
  const parts = value.dims.map((_, at) => (at === axis ? index : null));
  return { hook, op: 'replace', value: value.slice(...parts), [by === 'head' ? 'head' : 'pos']: index } as const;
}

function requireSameDims(name: HookName, clean: ActivationCache, corrupted: ActivationCache): readonly number[] {
  const { dims } = clean[name] as Tensor<'float32'>;
  const [first, second] = [dims, corrupted[name]?.dims].map((extents) => `[${extents?.join(', ')}]`);
  if (first === second) return dims;
  throw new ClearformerError(
    'shape_mismatch',
    `${call}: ${name} is ${first} on the clean input, ${second} on the corrupted one`,
  );
}
