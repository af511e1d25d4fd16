// The hook points whose values sum to a decoder's final residual stream.

import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';
import { inLayer } from './layer_hooks.js';

/**
 * A vector [batch, pos, d_model] that is added to the stream, or heads [batch, pos, head, d_head] whose projections
 * are.
 */
export interface ResidualPart {
  hook: HookName;
  /** For heads, the prefix of their index. */
  label: string;
  /** The layer whose output projection applies to the heads; undefined for a vector. */
  heads: { layer: number; cross: boolean } | undefined;
}

export interface ResidualParts {
  parts: ResidualPart[];
  /** The divisor of the final norm, [batch, pos, 1]. */
  scale: HookName;
}

/** What embeddings add to the stream: one part if a norm follows them (BLOOM, mBART), since their sum is scaled by it. */
export function embeddingParts(names: ReadonlySet<string>, top: '' | 'decoder.' | 'text_model.'): ResidualPart[] {
  const part = (leaf: 'embed' | 'pos_embed' | 'token_type_embed' | 'full_embed', label: string = leaf) =>
    ({ hook: `${top}hook_${leaf}`, label, heads: undefined }) as const;
  if (names.has(`${top}embed.ln.hook_scale`)) return [part('full_embed', 'embed')];
  return [part('embed'), part('pos_embed'), part('token_type_embed')].filter(({ hook }) => names.has(hook));
}

/** `unsupported` for a model, with the reason. */
export const refusal = (call: string, { cfg }: PreTrainedModel, reason: string): ClearformerError =>
  new ClearformerError('unsupported', `${call}: ${cfg.model_type}: ${reason}`);

/** Throws `unsupported`, with the reason, for models whose stream is not the sum of what their layers add. */
export function requireStream(call: string, model: PreTrainedModel): void {
  if (!hasInLayers(model, 'hook_normalized_resid_post')) return;
  const reason = 'its layers end with a norm, which scales anew what all layers before have added (post-norm)';
  throw refusal(call, model, reason);
}

/** Whether the layers have a hook. */
export const hasInLayers = (model: PreTrainedModel, leaf: string): boolean =>
  model.hooks().some(({ name }) => name === inLayer(model, 0, leaf));

/** The same for models whose stream is not the sum of what their heads and MLPs add. */
export function requireSum(call: string, model: PreTrainedModel): void {
  requireStream(call, model);
  if (hasInLayers(model, 'ln1_post.hook_scale')) {
    throw refusal(call, model, 'a norm behind attention mixes the heads before they are added (ln1_post)');
  }
}

/**
 * The parts in the order they are added. Throws `unsupported`, with the reason, for models whose logits are not linear
 * in such parts even with the norms' scales held fixed.
 */
export function residualParts(call: string, model: PreTrainedModel): ResidualParts {
  const { kind, n_layers, task } = model.cfg;
  const refuse = (reason: string) => refusal(call, model, reason);
  if (kind !== 'decoder-only' && kind !== 'encoder-decoder') {
    throw refuse('only decoders answer with an output layer right behind the residual stream');
  }
  if (task !== 'causal-lm' && task !== 'seq2seq-lm') throw refuse(`for ${task} it has no output layer`);
  const [top, stack] = kind === 'encoder-decoder' ? (['decoder.', 'decoder'] as const) : (['', 'blocks'] as const);
  const names = new Set(model.hooks().map(({ name }) => name));
  const block = (layer: number) => `${stack}.${layer}` as const;
  requireSum(call, model);
  const scale = `${top}ln_final.hook_scale` as const;
  if (!names.has(scale)) throw refuse('it has no final norm');
  const parts = embeddingParts(names, top);
  for (let layer = 0; layer < n_layers; layer++) {
    if (!names.has(`${block(layer)}.attn.hook_z`)) {
      parts.push({ hook: `${block(layer)}.hook_attn_out`, label: `${layer}_attn_out`, heads: undefined });
    }
    parts.push({ hook: `${block(layer)}.attn.hook_z`, label: `L${layer}H`, heads: { layer, cross: false } });
    parts.push({ hook: `${block(layer)}.cross_attn.hook_z`, label: `L${layer}C`, heads: { layer, cross: true } });
    parts.push({ hook: `${block(layer)}.hook_mlp_out`, label: `${layer}_mlp_out`, heads: undefined });
  }
  return { parts: parts.filter(({ hook }) => names.has(hook)), scale };
}
