// The hook points that an analysis goes through, one for each layer.

import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';

const stacks = {
  'encoder-only': 'blocks.*.',
  'decoder-only': 'blocks.*.',
  'encoder-decoder': 'decoder.*.',
  'dual-encoder': 'text_model.blocks.*.',
};

/** Hook names with `*` in the place of the layer, in the stack that makes the model's answer: `blocks.*.attn.hook_z`. */
export function defaultHook(model: PreTrainedModel, leaf: string): string {
  return `${stacks[model.cfg.kind]}${leaf}`;
}

/**
 * The hook names that `hook` means, `*` standing for the number of the layer, in the order of the layers.
 * Throws `invalid_argument` when there are none.
 */
export function layerHooks(call: string, model: PreTrainedModel, hook: string): string[] {
  const escaped = String(hook).replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  const pattern = new RegExp(`^${escaped.replace('*', '\\d+')}$`);
  const names = model.hooks().map(({ name }) => name);
  const found = names.filter((name) => pattern.test(name));
  if (found.length > 0) return found;
  const last = String(hook).slice(String(hook).lastIndexOf('.') + 1);
  const near = names.filter((name) => name.endsWith(`.${last}`)).slice(0, 3);
  const hint = (near.length > 0 ? near : names.slice(0, 3)).join(', ');
  throw new ClearformerError(
    'invalid_argument',
    `${call}: ${model.cfg.model_type} has no hook '${hook}' in any layer (there are ${hint}, …; see hooks())`,
    { option: 'hook', expected: names },
  );
}

/**
 * Which axis of the hook's tensor counts heads or positions (of scores and patterns: of queries), and its extent as
 * hooks() has it. Throws `invalid_argument` for a hook without such an axis.
 */
export function axisOf(
  call: string,
  model: PreTrainedModel,
  hook: string,
  wanted: 'head' | 'position',
): { axis: number; extent: string | number } {
  const dims = model.hooks().find(({ name }) => name === hook)?.dims ?? [];
  const scores = dims.includes('query_pos'); // [batch, head, query_pos, key_pos]; others: [batch, pos, head, d_head]
  const axis = wanted === 'position' ? (scores ? 2 : 1) : scores ? 1 : 2;
  const extent = dims[axis];
  const exists = wanted === 'head' ? dims.length === 4 : typeof extent === 'string';
  if (extent !== undefined && exists) return { axis, extent };
  throw new ClearformerError('invalid_argument', `${call}: ${hook} [${dims.join(', ')}] has no axis of ${wanted}s`, {
    option: 'hook',
  });
}
