// torch.nn's blocks and stacks: TransformerEncoderLayer, TransformerDecoderLayer, TransformerEncoder, TransformerDecoder,
// Transformer (Vaswani et al. 2017, arXiv 1706.03762, section 3).

import type { PlainOptions, TensorIn } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';
import type { TensorInput } from '../tensor/tensor_input.js';
import type { LayerNorm, RMSNorm } from './layers.js';
import type { Mask } from './mask.js';
import { type ForwardOptions, type HookNames, type InferenceOptions, Module, type Traced } from './module.js';
import { restrictions, sizeOf } from './multihead_attention.js';

/** Options of the blocks. */
export interface TransformerLayerOptions extends InferenceOptions {
  /** Default 2048. */
  dim_feedforward?: number | undefined;
  /** Default relu. */
  activation?: 'relu' | 'gelu' | undefined;
  /** Default 1e-5. */
  layer_norm_eps?: number | undefined;
  /** Pre-norm: norms before attention and feed-forward; by default after the residual sums (post-norm). */
  norm_first?: boolean | undefined;
  /** In all projections and norms; default true. */
  bias?: boolean | undefined;
}

/** Options of `TransformerEncoderLayer.forward`. */
export interface EncoderLayerForwardOptions<N extends HookNames> extends ForwardOptions<N> {
  src_mask?: Mask | null | undefined;
  /** Keys that no query attends to: a mask of dims [batch, key]. */
  src_key_padding_mask?: Mask | null | undefined;
  is_causal?: boolean | undefined;
}

/** Options of `TransformerEncoder.forward`. */
export interface EncoderForwardOptions<N extends HookNames> extends ForwardOptions<N> {
  mask?: Mask | null | undefined;
  /** Keys that no query attends to: a mask of dims [batch, key]. */
  src_key_padding_mask?: Mask | null | undefined;
  is_causal?: boolean | undefined;
}

/** Options of `TransformerDecoderLayer.forward` and `TransformerDecoder.forward`. */
export interface DecoderForwardOptions<N extends HookNames> extends ForwardOptions<N> {
  tgt_mask?: Mask | null | undefined;
  memory_mask?: Mask | null | undefined;
  /** Keys that no query attends to: masks of dims [batch, key]. */
  tgt_key_padding_mask?: Mask | null | undefined;
  memory_key_padding_mask?: Mask | null | undefined;
  tgt_is_causal?: boolean | undefined;
  memory_is_causal?: boolean | undefined;
}

/** Options of `Transformer.forward`. */
export interface TransformerForwardOptions<N extends HookNames> extends DecoderForwardOptions<N> {
  src_mask?: Mask | null | undefined;
  src_key_padding_mask?: Mask | null | undefined;
  src_is_causal?: boolean | undefined;
}

/** For each attention's name in the core, torch's names of its mask, its key padding mask and its causality. */
type Attentions = Readonly<Record<string, readonly [string, string, string]>>;

const target: Attentions = { tgt_mask: ['tgt_mask', 'tgt_key_padding_mask', 'tgt_is_causal'] };
const memory: Attentions = { memory_mask: ['memory_mask', 'memory_key_padding_mask', 'memory_is_causal'] };
const source: Attentions = { src_mask: ['src_mask', 'src_key_padding_mask', 'src_is_causal'] };
const layerOptions = [
  'dropout',
  'batch_first',
  'dim_feedforward',
  'activation',
  'layer_norm_eps',
  'norm_first',
  'bias',
];

abstract class Layer extends Module {
  /** @internal */
  protected pass<N extends HookNames>(
    given: Record<string, TensorInput>,
    options: ForwardOptions<N>,
    attentions: Attentions,
  ): Promise<Traced<N>> {
    const tensors = Object.fromEntries(Object.entries(given).map(([name, input]) => [name, this.floats(name, input)]));
    const { src, tgt, memory: read = src } = tensors;
    const masks = Object.entries(attentions).map(([name, names]) => {
      const query = name in target || name in memory ? tgt : src;
      const operands = [query, name in memory ? read : query] as [TensorIn, TensorIn];
      const size = sizeOf(this.kind, tensors, this.options.nhead as number, operands);
      return [name, restrictions(this.kind, options, names, size)];
    });
    return this.traced(tensors, Object.fromEntries(masks), options, Object.values(attentions).flat());
  }
}

/**
 * Self-attention and a feed-forward network, each with residual and norm. state_dict: self_attn.…, linear1, linear2,
 * norm1, norm2.
 */
export class TransformerEncoderLayer extends Layer {
  constructor(d_model: number, nhead: number, options: TransformerLayerOptions = {}) {
    super('nn.TransformerEncoderLayer', { d_model, nhead }, options, layerOptions);
  }

  /** src [batch, T, d_model] -> [batch, T, d_model]. */
  async forward<N extends HookNames = undefined>(
    src: TensorInput,
    options: EncoderLayerForwardOptions<N> = {},
  ): Promise<Traced<N>> {
    return this.pass({ src }, options, { mask: ['src_mask', 'src_key_padding_mask', 'is_causal'] });
  }
}

/**
 * Masked self-attention, cross-attention to the encoder's output and a feed-forward network, each with residual and
 * norm. state_dict: self_attn.…, multihead_attn.…, linear1, linear2, norm1, norm2, norm3.
 */
export class TransformerDecoderLayer extends Layer {
  constructor(d_model: number, nhead: number, options: TransformerLayerOptions = {}) {
    super('nn.TransformerDecoderLayer', { d_model, nhead }, options, layerOptions);
  }

  /** tgt [batch, T, d_model], memory [batch, S, d_model] -> [batch, T, d_model]. Causal only on request. */
  async forward<N extends HookNames = undefined>(
    tgt: TensorInput,
    memory_: TensorInput,
    options: DecoderForwardOptions<N> = {},
  ): Promise<Traced<N>> {
    return this.pass({ tgt, memory: memory_ }, options, { ...target, ...memory });
  }
}

type StackNorm = LayerNorm | RMSNorm;

/** `num_layers` blocks like `encoder_layer`, then `norm`. state_dict: layers.0.…, norm.weight, norm.bias. */
export class TransformerEncoder extends Layer {
  constructor(encoder_layer: TransformerEncoderLayer, num_layers: number, norm: StackNorm | null = null) {
    super('nn.TransformerEncoder', stackOptions('nn.TransformerEncoder', encoder_layer, num_layers, norm));
  }

  /** src [batch, T, d_model] -> [batch, T, d_model]. */
  async forward<N extends HookNames = undefined>(
    src: TensorInput,
    options: EncoderForwardOptions<N> = {},
  ): Promise<Traced<N>> {
    return this.pass({ src }, options, { mask: ['mask', 'src_key_padding_mask', 'is_causal'] });
  }
}

/** `num_layers` blocks like `decoder_layer`, then `norm`. state_dict: layers.0.…, norm.weight, norm.bias. */
export class TransformerDecoder extends Layer {
  constructor(decoder_layer: TransformerDecoderLayer, num_layers: number, norm: StackNorm | null = null) {
    super('nn.TransformerDecoder', stackOptions('nn.TransformerDecoder', decoder_layer, num_layers, norm));
  }

  /** tgt [batch, T, d_model], memory [batch, S, d_model] -> [batch, T, d_model]. Causal only on request. */
  async forward<N extends HookNames = undefined>(
    tgt: TensorInput,
    memory_: TensorInput,
    options: DecoderForwardOptions<N> = {},
  ): Promise<Traced<N>> {
    return this.pass({ tgt, memory: memory_ }, options, { ...target, ...memory });
  }
}

/** Options of `Transformer`. */
export interface TransformerOptions extends TransformerLayerOptions {
  /** Default 512. */
  d_model?: number | undefined;
  /** Default 8. */
  nhead?: number | undefined;
  /** Default 6 each. */
  num_encoder_layers?: number | undefined;
  num_decoder_layers?: number | undefined;
}

/**
 * The paper's model without embeddings and output layer: encoder and decoder, both with a final norm. state_dict:
 * encoder.…, decoder.….
 */
export class Transformer extends Layer {
  constructor(options: TransformerOptions = {}) {
    const known = [...layerOptions, 'd_model', 'nhead', 'num_encoder_layers', 'num_decoder_layers'];
    super('nn.Transformer', { d_model: 512, nhead: 8 }, options, known);
  }

  /** src [batch, S, d_model], tgt [batch, T, d_model] -> [batch, T, d_model]. Causal only on request. */
  async forward<N extends HookNames = undefined>(
    src: TensorInput,
    tgt: TensorInput,
    options: TransformerForwardOptions<N> = {},
  ): Promise<Traced<N>> {
    return this.pass({ src, tgt }, options, { ...source, ...target, ...memory });
  }
}

/** The block's options, with those of the stack and of its norm. */
function stackOptions(kind: string, layer: Module, num_layers: number, norm: StackNorm | null): PlainOptions {
  if (layer?.kind !== `${kind}Layer`) {
    throw new ClearformerError('invalid_argument', `${kind}: the first argument must be a ${kind}Layer`);
  }
  if (norm !== null && !/^nn\.(Layer|RMS)Norm$/.test(norm?.kind)) {
    throw new ClearformerError('unsupported', `${kind}: norm is no LayerNorm or RMSNorm`);
  }
  return { ...layer.options, num_layers, norm: norm !== null && { kind: norm.kind, ...norm.options } };
}
