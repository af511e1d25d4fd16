// Which hook points write the parts that a decoder's last residual stream is the sum of.

import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';

/** A vector [batch, pos, d_model] that is added to the stream, or the heads [batch, pos, head, d_head] that make one. */
export interface ResidualPart {
  hook: HookName;
  /** Of heads, what stands before their number. */
  label: string;
  /** Whose output matrix the heads go through; undefined for a vector. */
  heads: { layer: number; cross: boolean } | undefined;
}

export interface ResidualParts {
  parts: ResidualPart[];
  /** What the final norm divides by, [batch, pos, 1]. */
  scale: HookName;
}

/**
 * The parts in the order they are added. Throws `unsupported` with the reason for models whose logits are not linear in
 * such parts, be it with the norms' scales as they are.
 */
export function residualParts(call: string, model: PreTrainedModel): ResidualParts {
  const { kind, model_type, n_layers, task } = model.cfg;
  const refuse = (reason: string) => new ClearformerError('unsupported', `${call}: ${model_type}: ${reason}`);
  if (kind !== 'decoder-only' && kind !== 'encoder-decoder') {
    throw refuse('only decoders answer with an output layer right behind the residual stream');
  }
  if (task !== 'causal-lm' && task !== 'seq2seq-lm') throw refuse(`for ${task} it has no output layer`);
  const [top, stack] = kind === 'encoder-decoder' ? (['decoder.', 'decoder'] as const) : (['', 'blocks'] as const);
  const names = new Set(model.hooks().map(({ name }) => name));
  const block = (layer: number) => `${stack}.${layer}` as const;
  if (names.has(`${block(0)}.hook_normalized_resid_post`)) {
    throw refuse('its layers end with a norm, which scales anew what all layers before have added (post-norm)');
  }
  if (names.has(`${block(0)}.ln1_post.hook_scale`)) {
    throw refuse('a norm behind attention mixes the heads before they are added (ln1_post)');
  }
  const scale = `${top}ln_final.hook_scale` as const;
  if (!names.has(scale)) throw refuse('it has no final norm');
  const parts: ResidualPart[] = [
    { hook: `${top}hook_embed`, label: 'embed', heads: undefined },
    { hook: `${top}hook_pos_embed`, label: 'pos_embed', heads: undefined },
  ];
  for (let layer = 0; layer < n_layers; layer++) {
    parts.push({ hook: `${block(layer)}.attn.hook_z`, label: `L${layer}H`, heads: { layer, cross: false } });
    parts.push({ hook: `${block(layer)}.cross_attn.hook_z`, label: `L${layer}C`, heads: { layer, cross: true } });
    parts.push({ hook: `${block(layer)}.hook_mlp_out`, label: `${layer}_mlp_out`, heads: undefined });
  }
  return { parts: parts.filter(({ hook }) => names.has(hook)), scale };
}
