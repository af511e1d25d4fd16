// torch.nn's layers other than attention: Linear, Embedding, LayerNorm, RMSNorm.

import { ClearformerError, textOf } from '../support/error.js';
import type { Tensor } from '../tensor/tensor.js';
import { integers, type TensorInput } from '../tensor/tensor_input.js';
import { type ForwardOptions, type HookNames, Module, type NoOptions, type Traced } from './module.js';

/** Options of `Linear`. */
export interface LinearOptions {
  bias?: boolean | undefined;
}

/** y = x Wᵀ + b. state_dict: weight [out_features, in_features], bias [out_features]. */
export class Linear extends Module {
  constructor(in_features: number, out_features: number, options: LinearOptions = {}) {
    super('nn.Linear', { in_features, out_features }, options, ['bias']);
  }

  /** [..., in_features] -> [..., out_features]. */
  async forward(input: TensorInput, options: NoOptions = {}): Promise<Tensor<'float32'>> {
    return this.output({ input: this.floats('input', input) }, options);
  }
}

/** Options of `Embedding`. */
export interface EmbeddingOptions {
  /** The index whose row has no gradient; negative: from the end. `forward` treats it like any other. */
  padding_idx?: number | null | undefined;
}

/** Looks up rows of a table by index. state_dict: weight [num_embeddings, embedding_dim]. */
export class Embedding extends Module {
  constructor(num_embeddings: number, embedding_dim: number, options: EmbeddingOptions = {}) {
    super('nn.Embedding', { num_embeddings, embedding_dim }, options, ['padding_idx']);
    const { padding_idx = null } = options;
    if (padding_idx === null) return;
    if (Number.isInteger(padding_idx) && padding_idx >= -num_embeddings && padding_idx < num_embeddings) return;
    const message = `nn.Embedding: padding_idx is ${textOf(padding_idx)}, no index of ${textOf(num_embeddings)} rows`;
    throw new ClearformerError('invalid_argument', message, { option: 'padding_idx' });
  }

  /** Integers [...] -> [..., embedding_dim]. `invalid_argument` for an index outside the table. */
  async forward(input: TensorInput, options: NoOptions = {}): Promise<Tensor<'float32'>> {
    return this.output({ input: integers('nn.Embedding: input', input) }, options);
  }
}

/** Options of `LayerNorm` and `RMSNorm`. */
export interface NormOptions {
  /** LayerNorm 1e-5, RMSNorm 2⁻²³. */
  eps?: number | null | undefined;
  elementwise_affine?: boolean | undefined;
}

abstract class Norm extends Module {
  /** @internal */
  constructor(
    kind: string,
    normalized_shape: number | readonly number[],
    options: NormOptions,
    known: readonly string[],
  ) {
    super(kind, { normalized_shape }, options, known, options?.elementwise_affine === false);
  }

  /** Normalises over the last axes, `normalized_shape`; keeps dims. */
  async forward<N extends HookNames = undefined>(
    input: TensorInput,
    options: ForwardOptions<N> = {},
  ): Promise<Traced<N>> {
    const tensor = this.floats('input', input);
    return this.traced({ input: tensor }, {}, options, []);
  }
}

/** y = (x - mean x) / √(var x + eps) · weight + bias. state_dict: weight and bias, of shape normalized_shape. */
export class LayerNorm extends Norm {
  constructor(
    normalized_shape: number | readonly number[],
    options: NormOptions & { bias?: boolean | undefined } = {},
  ) {
    super('nn.LayerNorm', normalized_shape, options, ['eps', 'elementwise_affine', 'bias']);
  }
}

/** y = x / √(mean x² + eps) · weight. state_dict: weight, of shape normalized_shape. */
export class RMSNorm extends Norm {
  constructor(normalized_shape: number | readonly number[], options: NormOptions = {}) {
    super('nn.RMSNorm', normalized_shape, options, ['eps', 'elementwise_affine']);
  }
}
