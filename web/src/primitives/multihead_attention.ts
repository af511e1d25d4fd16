// torch.nn.MultiheadAttention, and the masks that it and the transformer blocks accept.

import type { MaskTerm, TensorIn } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';
import type { ModuleCache } from '../tensor/activation_cache.js';
import { Tensor } from '../tensor/tensor.js';
import type { TensorInput } from '../tensor/tensor_input.js';
import { flagged } from './arguments.js';
import { type AttentionSize, type Mask, overHeads, overKeys, termsOf } from './mask.js';
import { type ForwardOptions, type HookNames, hookNames, type InferenceOptions, Module } from './module.js';

/** Options of `MultiheadAttention`. */
export interface MultiheadAttentionOptions extends InferenceOptions {
  bias?: boolean | undefined;
  /** An extra learned key and value. */
  add_bias_kv?: boolean | undefined;
  /** An extra key and value of zeros. */
  add_zero_attn?: boolean | undefined;
  /** Features of the keys and of the values; default embed_dim. */
  kdim?: number | null | undefined;
  vdim?: number | null | undefined;
}

/** Options of `MultiheadAttention.forward`. */
export interface AttentionForwardOptions<W extends boolean | undefined, N extends HookNames> extends ForwardOptions<N> {
  /** Keys that no query attends to: a mask of dims [batch, key]. */
  key_padding_mask?: Mask | null | undefined;
  /** Whether to return the weights (default true); otherwise null is returned in their place. */
  need_weights?: W;
  /** A mask of dims [query, key], or one per head [batch · head, query, key]. */
  attn_mask?: Mask | null | undefined;
  /** Average over the heads [batch, query, key] (default), or return each [batch, head, query, key]. */
  average_attn_weights?: boolean | undefined;
  /** Causal: query t attends to keys 0 … t, with or without an attn_mask. */
  is_causal?: boolean | undefined;
}

type Weights<W> = W extends false ? null : Tensor<'float32'>;
/** The result of `MultiheadAttention.forward`. */
export type Attended<W, N extends HookNames> = N extends readonly string[]
  ? [Tensor<'float32'>, Weights<W>, ModuleCache]
  : [Tensor<'float32'>, Weights<W>];

const pattern = 'attn.hook_pattern';
const maskNames = ['attn_mask', 'key_padding_mask', 'is_causal'] as const;

/**
 * concat(head₁, …, head_H) W_O, head_h = softmax((q W_Q)(k W_K)ᵀ / √d + mask)(v W_V) (Vaswani et al. 2017, section 3.2.2).
 * state_dict: in_proj_weight and in_proj_bias, in which q, k and v are stacked (with kdim or vdim q_proj_weight,
 * k_proj_weight and v_proj_weight), out_proj.weight, out_proj.bias, bias_k, bias_v.
 */
export class MultiheadAttention extends Module {
  constructor(embed_dim: number, num_heads: number, options: MultiheadAttentionOptions = {}) {
    const known = ['dropout', 'batch_first', 'bias', 'add_bias_kv', 'add_zero_attn', 'kdim', 'vdim'];
    super('nn.MultiheadAttention', { embed_dim, num_heads }, options, known);
  }

  /**
   * query [batch, T, embed_dim], key [batch, S, kdim], value [batch, S, vdim], or all without batch -> `[output,
   * weights]`, output [batch, T, embed_dim]. A fully masked query has weights 0 (in torch NaN).
   */
  async forward<W extends boolean | undefined = undefined, N extends HookNames = undefined>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options: AttentionForwardOptions<W, N> = {},
  ): Promise<Attended<W, N>> {
    const names = hookNames(this.kind, options, [...maskNames, 'need_weights', 'average_attn_weights']);
    const wanted = flagged(this.kind, 'need_weights', options.need_weights ?? true);
    const average = flagged(this.kind, 'average_attn_weights', options.average_attn_weights ?? true);
    const tensors = {
      query: this.floats('query', query),
      key: this.floats('key', key),
      value: this.floats('value', value),
    };
    const size = sizeOf(this.kind, tensors, this.options.num_heads as number, [tensors.query, tensors.key]);
    const masks = { mask: restrictions(this.kind, options, maskNames, size) };
    const all = wanted ? [...(names ?? []), pattern] : (names ?? []);
    const [output, cache] = await this.run(tensors, masks, all, options);
    const weights = wanted ? headWeights(cache[pattern] as Tensor<'float32'>, average, output.dims.length === 2) : null;
    return (names === undefined ? [output, weights] : [output, weights, cache]) as Attended<W, N>;
  }
}

/** The sizes of an attention of operands [batch, position, features]. `shape_mismatch` if only some have a batch axis. */
export function sizeOf(
  kind: string,
  tensors: Record<string, TensorIn>,
  heads: number,
  of: readonly [query: TensorIn, key: TensorIn],
): AttentionSize {
  const [first = [], ...others] = Object.values(tensors).map(({ dims }) => dims);
  const [queries = 0, keys = 0] = of.map(({ dims }) => dims.at(-2));
  const batch = first.length === 3 ? (first[0] as number) : null;
  if (others.every((dims) => dims.length === first.length)) return { batch, heads, queries, keys };
  const names = Object.entries(tensors).map(([name, { dims }]) => `${name} [${dims.join(', ')}]`);
  throw new ClearformerError('shape_mismatch', `${kind}: all or none may have a batch: ${names.join(', ')}`);
}

/** The mask of one attention, from torch's three options. */
export function restrictions(
  kind: string,
  options: object,
  [mask, padding, causal]: readonly [string, string, string],
  size: AttentionSize,
): MaskTerm[] {
  const given = { ...options } as Record<string, Mask | undefined>; // null is refused with the other options
  const terms = [
    ...overHeads(`${kind}: ${mask}`, termsOf(`${kind}: ${mask}`, given[mask]), size),
    ...overKeys(`${kind}: ${padding}`, termsOf(`${kind}: ${padding}`, given[padding]), size),
  ];
  if (flagged(kind, causal, given[causal])) terms.push({ kind: 'causal', past: 0 });
  return terms;
}

/** Weights [batch, head, query, key], optionally averaged over the heads and without the batch axis. */
function headWeights(weights: Tensor<'float32'>, average: boolean, unbatched: boolean): Tensor<'float32'> {
  const [batch = 0, heads = 1, queries = 0, keys = 0] = weights.dims;
  const lead = unbatched ? [] : [batch];
  if (!average) return new Tensor('float32', weights.data, [...lead, heads, queries, keys]);
  const matrix = queries * keys;
  const mean = Float32Array.from({ length: batch * matrix }, (_, i) => {
    const first = Math.floor(i / matrix) * heads * matrix + (i % matrix);
    let sum = 0;
    for (let head = 0; head < heads; head++) sum += weights.data[first + head * matrix] as number;
    return sum / heads;
  });
  return new Tensor('float32', mean, [...lead, queries, keys]);
}
