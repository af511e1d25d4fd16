// The hook points that an analysis iterates over, one per layer.

import { headAxis, posAxis } from '../models/edits.js';
import { resolveHooks } from '../models/hooks.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError, quoted } from '../support/error.js';
import type { Tensor } from '../tensor/tensor.js';

/** A hook name in which `*` stands for the layer's index. */
export type LayerHook = HookName | `${string}*${string}`;

const stacks = {
  'encoder-only': 'blocks.*.',
  'decoder-only': 'blocks.*.',
  'encoder-decoder': 'decoder.*.',
  'dual-encoder': 'text_model.blocks.*.',
} as const;

/** The default hook with `*` in place of the layer, in the stack that computes the output: `blocks.*.attn.hook_z`. */
export function defaultHook(model: PreTrainedModel, leaf: string): LayerHook {
  return `${stacks[model.cfg.kind]}${leaf}`;
}

/** What the names of the embeddings' and the final norm's hooks of that stack begin with. */
export function stackPrefix(model: PreTrainedModel): '' | 'decoder.' | 'text_model.' {
  return stacks[model.cfg.kind].split(/blocks|\*/)[0] as '';
}

/** Throws `unsupported`, naming the layers, for a model of whose layers some have no attention (LFM2, Qwen3.5). */
export function requireAttention(call: string, model: PreTrainedModel): void {
  const names = new Set<string>(model.hooks().map(({ name }) => name));
  const layers = Array.from({ length: model.cfg.n_layers }, (_, layer) => layer);
  const without = layers.filter((layer) => !names.has(inLayer(model, layer, 'attn.hook_z')));
  if (without.length === 0) return;
  const reason = `these of its layers are without attention: ${without.join(', ')}`;
  throw new ClearformerError('unsupported', `${call}: not for ${model.cfg.model_type}: ${reason}`);
}

/** The name of a weight or a hook in a layer of that stack: `blocks.0.attn.W_Q`. */
export function inLayer(model: PreTrainedModel, layer: number, leaf: string): string {
  return defaultHook(model, leaf).replace('*', String(layer));
}

/**
 * The factor of what attention adds to the stream in that layer, which `hook_result` and `W_O` are without: a number, or
 * one for each feature (Granite's `residual_multiplier`, DINOv2's and DINOv3's layer scales).
 */
export async function attentionScale(model: PreTrainedModel, layer: number): Promise<number | Tensor<'float32'>> {
  const { model_type } = model.cfg;
  if (model_type.startsWith('dino')) return model.parameter(inLayer(model, layer, 'ln1_scale.w'));
  return /^granite(moe(hybrid)?)?$/.test(model_type) ? Number(model.config.residual_multiplier ?? 1) : 1;
}

/**
 * The hook names matched by `hook`, in layer order. Throws `invalid_argument` if there are none, and if it matches more
 * than one in a layer.
 */
export function layerHooks(model: PreTrainedModel, hook: LayerHook): HookName[] {
  const all = resolveHooks('hook', model.hooks({ on_request: true }), hook).map(({ name }) => name);
  const inLayers = all.filter((name) => /\d/.test(name)); // `*` is the layer
  const names = inLayers.length > 0 ? inLayers : all;
  const kinds = [...new Set(names.map((name) => name.replace(/\d+/, '*')))];
  if (kinds.length === 1) return names;
  const message = `hook: ${quoted(hook)} means ${kinds.join(', ')}: one for each layer is needed`;
  throw new ClearformerError('invalid_argument', message, { option: 'hook' });
}

/**
 * The axis of heads or positions (for scores and patterns: of queries) in the hook's tensor, and its extent as given by
 * hooks(). Throws `invalid_argument` for a hook without such an axis.
 */
export function axisOf(
  call: string,
  model: PreTrainedModel,
  hook: HookName,
  wanted: 'head' | 'position',
): { axis: number; extent: string | number } {
  const { axes = [], dims = [] } = model.hooks({ on_request: true }).find(({ name }) => name === hook) ?? {};
  const axis = wanted === 'head' ? headAxis(axes) : posAxis(axes);
  if (axis >= 0) return { axis, extent: dims[axis] as string | number };
  throw new ClearformerError('invalid_argument', `${call}: ${hook} [${axes.join(', ')}] has no axis of ${wanted}s`, {
    option: 'hook',
  });
}
