// The hook points that an analysis goes through, one for each layer.

import { headAxis, posAxis } from '../models/edits.js';
import { resolveHooks } from '../models/hooks.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';

/** A hook name in which `*` stands for the number of the layer. */
export type LayerHook = HookName | `${string}*${string}`;

const stacks = {
  'encoder-only': 'blocks.*.',
  'decoder-only': 'blocks.*.',
  'encoder-decoder': 'decoder.*.',
  'dual-encoder': 'text_model.blocks.*.',
} as const;

/** Hook names with `*` in the place of the layer, in the stack that makes the model's answer: `blocks.*.attn.hook_z`. */
export function defaultHook(model: PreTrainedModel, leaf: string): LayerHook {
  return `${stacks[model.cfg.kind]}${leaf}`;
}

/**
 * The hook names that `hook` means, in the order of the layers. Throws `invalid_argument` when there are none, and when
 * it means more than one in a layer.
 */
export function layerHooks(model: PreTrainedModel, hook: LayerHook): HookName[] {
  const names = resolveHooks('hook', model.hooks(), hook).map(({ name }) => name);
  const kinds = [...new Set(names.map((name) => name.replace(/\d+/, '*')))];
  if (kinds.length === 1) return names;
  const message = `hook: '${hook}' means ${kinds.join(', ')}: one for each layer is needed`;
  throw new ClearformerError('invalid_argument', message, { option: 'hook' });
}

/**
 * Which axis of the hook's tensor counts heads or positions (of scores and patterns: of queries), and its extent as
 * hooks() has it. Throws `invalid_argument` for a hook without such an axis.
 */
export function axisOf(
  call: string,
  model: PreTrainedModel,
  hook: HookName,
  wanted: 'head' | 'position',
): { axis: number; extent: string | number } {
  const { axes = [], dims = [] } = model.hooks().find(({ name }) => name === hook) ?? {};
  const axis = wanted === 'head' ? headAxis(axes) : posAxis(axes);
  if (axis >= 0) return { axis, extent: dims[axis] as string | number };
  throw new ClearformerError('invalid_argument', `${call}: ${hook} [${axes.join(', ')}] has no axis of ${wanted}s`, {
    option: 'hook',
  });
}
