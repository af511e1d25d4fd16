// The classes of d2l.ai's chapters on attention and transformers: same arguments and state_dict keys, no dropout.
// A fully masked row gets equal weights, as in d2l's masked_softmax. Input sizes that d2l infers lazily are taken from
// the weights.

import type { MaskTerm, TensorIn } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import type { Tensor } from '../tensor/tensor.js';
import { floats, type TensorInput } from '../tensor/tensor_input.js';
import { flagged } from './arguments.js';
import {
  type AttentionPoolingGradients,
  attention_pooling_backward,
  scaled_dot_product_attention,
} from './attention.js';
import { Mask } from './mask.js';
import {
  checkList,
  type ForwardOptions,
  type HookNames,
  hookNames,
  Module,
  type NoOptions,
  type Traced,
} from './module.js';

/** The number of keys to attend to: n per sequence [batch], or per query [batch, query]. */
export type ValidLens = TensorInput | null | undefined;

/** Options without effect. */
export interface DropoutOptions {
  /** Accepted and ignored: there is no dropout in inference. */
  dropout?: number | undefined;
}

/** Options of `forward`: with `names` the result is `[output, cache]`; the cache may include attention weights. */
export type { ForwardOptions };

type Weights = Tensor<'float32'>;

/** softmax(q kᵀ / √d) v. Has no weights to load. */
export class DotProductAttention {
  #weights: Weights | undefined;

  constructor(options: DropoutOptions = {}) {
    checkOptions('d2l.DotProductAttention', options, ['dropout']);
  }

  /** The attention weights [batch, query, key] of the last call. */
  get attention_weights(): Weights | undefined {
    return this.#weights;
  }

  /** queries [batch, T, d], keys [batch, S, d], values [batch, S, d_v] -> [batch, T, d_v]. */
  async forward(
    queries: TensorInput,
    keys: TensorInput,
    values: TensorInput,
    valid_lens?: ValidLens,
  ): Promise<Weights> {
    const options = { ...masked(valid_lens), need_weights: true } as const;
    const { query, key, value } = ofOneBatch(queries, keys, values);
    const [output, weights] = await scaled_dot_product_attention(query, key, value, options);
    this.#weights = weights;
    return output;
  }

  /**
   * The gradients of all inputs, see `attention_pooling_backward`; the first argument is the list of those of `forward`.
   * There are no weights, and no hooks to select.
   */
  async backward(
    inputs: Parameters<DotProductAttention['forward']>,
    options: { grad_output: TensorInput },
  ): Promise<{ inputs: Record<'queries' | 'keys' | 'values', Weights> }> {
    checkList('d2l.DotProductAttention', inputs);
    checkOptions('d2l.DotProductAttention.backward', options ?? null, ['grad_output']);
    const [queries, keys, values, valid_lens] = inputs;
    const given = { ...masked(valid_lens), grad_output: options.grad_output } as const;
    const { query, key, value } = ofOneBatch(queries, keys, values);
    const found: AttentionPoolingGradients = await attention_pooling_backward(query, key, value, given);
    return { inputs: { queries: found.query, keys: found.key, values: found.value } };
  }
}

/** The operands of torch.bmm, which does not broadcast. */
function ofOneBatch(queries: TensorInput, keys: TensorInput, values: TensorInput) {
  const kind = 'd2l.DotProductAttention';
  const [query, key, value] = [
    floats(`${kind}: queries`, queries),
    floats(`${kind}: keys`, keys),
    floats(`${kind}: values`, values),
  ];
  const batches = [query, key, value].map(({ dims }) => dims.slice(0, -2));
  if (batches.every((batch) => String(batch) === String(batches[0]))) return { query, key, value };
  const text = batches.map((batch) => `[${batch.join(', ')}]`).join(', ');
  throw new ClearformerError('shape_mismatch', `${kind}: queries, keys and values of different batches: ${text}`);
}

const masked = (valid_lens: ValidLens) => ({ mask: new Mask(lensTerms(valid_lens)), empty_row: 'uniform' }) as const;

abstract class Attentive extends Module {
  #weights: Weights[] = [];

  /** @internal The attention weights of the last call, in the order of `hooks`. */
  protected weights(): Weights[] {
    return this.#weights;
  }

  /** @internal Runs the block and keeps what `hooks` captured. */
  protected async attend<N extends HookNames>(
    inputs: Record<string, TensorInput>,
    masks: Record<string, MaskTerm[]>,
    options: ForwardOptions<N>,
    [hooks, known = []]: readonly [hooks: readonly string[], known?: readonly string[]],
  ): Promise<Traced<N>> {
    const names = hookNames(this.kind, options, known);
    const tensors: Record<string, TensorIn> = {};
    for (const [name, input] of Object.entries(inputs)) tensors[name] = this.floats(name, input);
    const result = await this.run(tensors, masks, [...(names ?? []), ...hooks], options);
    this.#weights = hooks.map((hook) => result[1][hook] as Weights);
    return (names === undefined ? result[0] : result) as Traced<N>;
  }
}

function lensTerms(valid_lens: ValidLens): MaskTerm[] {
  return valid_lens === undefined || valid_lens === null ? [] : [...Mask.valid_lens(valid_lens).terms];
}

abstract class OneAttention extends Attentive {
  /** The attention weights of the last call: [batch, head, query, key], for AdditiveAttention [batch, query, key]. */
  get attention_weights(): Weights | undefined {
    return this.weights()[0];
  }
}

/** score(q, k) = w_v · tanh(W_q q + W_k k). state_dict: W_q.weight, W_k.weight, w_v.weight. */
export class AdditiveAttention extends OneAttention {
  constructor(num_hiddens: number, options: DropoutOptions = {}) {
    super('d2l.AdditiveAttention', { num_hiddens }, options, ['dropout']);
  }

  /** queries [batch, T, q], keys [batch, S, k], values [batch, S, v] -> [batch, T, v]. */
  async forward<N extends HookNames = undefined>(
    queries: TensorInput,
    keys: TensorInput,
    values: TensorInput,
    valid_lens?: ValidLens,
    options: ForwardOptions<N> = {},
  ): Promise<Traced<N>> {
    return this.attend({ queries, keys, values }, { mask: lensTerms(valid_lens) }, options, [['hook_pattern']]);
  }
}

/** Options of `MultiHeadAttention`. */
export interface MultiHeadAttentionOptions extends DropoutOptions {
  /** Default false. */
  bias?: boolean | undefined;
  /** The scoring function of the heads: `dot` (default, scaled) or `additive`. */
  attention?: 'dot' | 'additive' | undefined;
  /** Hidden size of additive scoring, which it needs; default: the size of a head. */
  attention_num_hiddens?: number | undefined;
}

/** Multi-head attention. state_dict: W_q.weight, W_k.weight, W_v.weight, W_o.weight, biases, attention.…. */
export class MultiHeadAttention extends OneAttention {
  constructor(num_hiddens: number, num_heads: number, options: MultiHeadAttentionOptions = {}) {
    const known = ['dropout', 'bias', 'attention', 'attention_num_hiddens'];
    super('d2l.MultiHeadAttention', { num_hiddens, num_heads }, options, known);
  }

  /** queries [batch, T, q], keys [batch, S, k], values [batch, S, v] -> [batch, T, num_hiddens]. */
  async forward<N extends HookNames = undefined>(
    queries: TensorInput,
    keys: TensorInput,
    values: TensorInput,
    valid_lens?: ValidLens,
    options: ForwardOptions<N> = {},
  ): Promise<Traced<N>> {
    return this.attend({ queries, keys, values }, { mask: lensTerms(valid_lens) }, options, [['attn.hook_pattern']]);
  }
}

/** LayerNorm(X + Y). state_dict: ln.weight, ln.bias. */
export class AddNorm extends Module {
  constructor(norm_shape: number | readonly number[], options: DropoutOptions = {}) {
    super('d2l.AddNorm', { norm_shape }, options, ['dropout']);
  }

  /** X and Y of the same dims, which end with norm_shape; dims are kept. */
  async forward<N extends HookNames = undefined>(
    X: TensorInput,
    Y: TensorInput,
    options: ForwardOptions<N> = {},
  ): Promise<Traced<N>> {
    const tensors = { X: this.floats('X', X), Y: this.floats('Y', Y) };
    return this.traced(tensors, {}, options, []);
  }
}

/** dense2(relu(dense1(X))), at each position. state_dict: dense1.…, dense2.…. */
export class PositionWiseFFN extends Module {
  constructor(ffn_num_hiddens: number, ffn_num_outputs: number) {
    super('d2l.PositionWiseFFN', { ffn_num_hiddens, ffn_num_outputs });
  }

  /** [..., features] -> [..., ffn_num_outputs]. */
  async forward<N extends HookNames = undefined>(X: TensorInput, options: ForwardOptions<N> = {}): Promise<Traced<N>> {
    return this.traced({ X: this.floats('X', X) }, {}, options, []);
  }
}

/** Options of `PositionalEncoding`. */
export interface PositionalEncodingOptions extends DropoutOptions {
  /** Maximum number of positions; default 1000. */
  max_len?: number | undefined;
}

/** X + P, P(i, 2j) = sin(i / 10000^(2j/d)), P(i, 2j + 1) = cos of the same. Has no weights to load. */
export class PositionalEncoding extends Module {
  constructor(num_hiddens: number, options: PositionalEncodingOptions = {}) {
    super('d2l.PositionalEncoding', { num_hiddens }, options, ['dropout', 'max_len'], true);
  }

  /** X [batch, T, num_hiddens], T up to max_len -> the same dims. */
  async forward(X: TensorInput, options: NoOptions = {}): Promise<Weights> {
    return this.output({ X: this.floats('X', X) }, options);
  }
}

/** One number for both sides, or height and width. */
export type ImageSize = number | readonly [height: number, width: number];

/**
 * A convolution whose stride is its kernel size. state_dict: conv.weight [num_hiddens, channels, height, width],
 * conv.bias.
 */
export class PatchEmbedding extends Module {
  /** Number of patches of an image of `img_size`. */
  readonly num_patches: number;

  constructor(img_size: ImageSize = 96, patch_size: ImageSize = 16, num_hiddens = 512) {
    super('d2l.PatchEmbedding', { img_size, patch_size, num_hiddens });
    const [image, patch] = [img_size, patch_size].map((size) => [size, size].flat() as number[]) as [
      number[],
      number[],
    ];
    const along = (axis: 0 | 1) => Math.floor((image[axis] as number) / (patch[axis] as number));
    this.num_patches = along(0) * along(1);
  }

  /** X [batch, channels, height, width] -> [batch, patches, num_hiddens]; partial patches at the edges are dropped. */
  async forward(X: TensorInput, options: NoOptions = {}): Promise<Weights> {
    return this.output({ X: this.floats('X', X) }, options);
  }
}

/** Options of the blocks. */
export interface BlockOptions extends DropoutOptions {
  /** Of the attention's projections; default false. */
  use_bias?: boolean | undefined;
}

abstract class SelfAttentive extends OneAttention {
  /** X [batch, T, num_hiddens] -> the same dims. */
  async forward<N extends HookNames = undefined>(
    X: TensorInput,
    valid_lens?: ValidLens,
    options: ForwardOptions<N> = {},
  ): Promise<Traced<N>> {
    return this.attend({ X }, { mask: lensTerms(valid_lens) }, options, [['attn.hook_pattern']]);
  }
}

/**
 * Self-attention and feed-forward, each with AddNorm. state_dict: attention.…, addnorm1.ln.…, ffn.dense1.…,
 * addnorm2.ln.….
 */
export class TransformerEncoderBlock extends SelfAttentive {
  constructor(num_hiddens: number, ffn_num_hiddens: number, num_heads: number, options: BlockOptions = {}) {
    super('d2l.TransformerEncoderBlock', { num_hiddens, ffn_num_hiddens, num_heads }, options, ['dropout', 'use_bias']);
  }
}

/** The Vision Transformer's block: pre-norm, GELU. state_dict: ln1, attention.…, ln2, mlp.dense1.…, mlp.dense2.…. */
export class ViTBlock extends SelfAttentive {
  constructor(num_hiddens: number, mlp_num_hiddens: number, num_heads: number, options: BlockOptions = {}) {
    super('d2l.ViTBlock', { num_hiddens, mlp_num_hiddens, num_heads }, options, ['dropout', 'use_bias']);
  }
}

/** Options of `TransformerDecoderBlock.forward`. */
export interface DecoderBlockForwardOptions<N extends HookNames> extends ForwardOptions<N> {
  /** Query t attends to positions 0 … t, as in d2l during training and, step by step, in prediction; default true. */
  is_causal?: boolean | undefined;
}

/**
 * Masked self-attention, cross-attention to the encoder's output, feed-forward. state_dict: attention1.…, attention2.…,
 * addnorm1 … 3, ffn.….
 */
export class TransformerDecoderBlock extends Attentive {
  constructor(num_hiddens: number, ffn_num_hiddens: number, num_heads: number, options: BlockOptions = {}) {
    super('d2l.TransformerDecoderBlock', { num_hiddens, ffn_num_hiddens, num_heads }, options, ['dropout', 'use_bias']);
  }

  /**
   * The attention weights of the last call: self-attention [batch, head, query, query], cross-attention [batch, head,
   * query, key].
   */
  get attention_weights(): [Weights, Weights] | undefined {
    const [own, cross] = this.weights();
    return own && cross && [own, cross];
  }

  /** X [batch, T, num_hiddens], enc_outputs [batch, S, num_hiddens] -> X's dims. */
  async forward<N extends HookNames = undefined>(
    X: TensorInput,
    enc_outputs: TensorInput,
    enc_valid_lens?: ValidLens,
    options: DecoderBlockForwardOptions<N> = {},
  ): Promise<Traced<N>> {
    const causal = flagged(this.kind, 'is_causal', options?.is_causal ?? true);
    const masks = { mask: causal ? [...Mask.causal().terms] : [], enc_mask: lensTerms(enc_valid_lens) };
    const hooks = ['attn.hook_pattern', 'cross_attn.hook_pattern'];
    return this.attend({ X, enc_outputs }, masks, options, [hooks, ['is_causal']]);
  }
}
