// Attention rollout: how much of each position's input vector reaches each position, assuming that only attention and a
// residual connection of equal weight move information:
//   Â_l = rows of (½ mean_h A_l + ½ I), each divided by its sum;  R_0 = Â_0,  R_l = Â_l R_{l-1}
// Source: Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers", arXiv 2005.00928, section 3.

import { Tensor } from '../tensor/tensor.js';
import { type AttentionPatterns, selfAttention } from './attention_patterns.js';

/**
 * The rollout up to each layer, [n_layers, batch, query, key]; rows sum to 1, and the last layer's is the model's.
 * Takes the `attentions` of a model call, or a cache with every `hook_pattern` of one stack of layers (for an
 * encoder-decoder, the encoder's or the decoder's). Accumulated in double precision. What layers without attention mix
 * (LFM2's convolutions) is not in it; a cache that lacks one of these below others is rejected.
 * Throws `invalid_argument` if a layer's map is missing, `shape_mismatch` for maps that are not of self-attention.
 */
export function attentionRollout(patterns: AttentionPatterns): Tensor<'float32'> {
  const maps = selfAttention('attentionRollout', patterns);
  const [batch = 0, , length = 0] = maps[0]?.dims ?? [];
  const area = length * length;
  const data = new Float32Array(maps.length * batch * area);
  for (let row = 0; row < batch; row++) {
    let rolled: Float64Array | undefined;
    maps.forEach((map, layer) => {
      const mixed = mixedWithIdentity(map, row);
      rolled = rolled === undefined ? mixed : product(mixed, rolled, length);
      data.set(rolled, (layer * batch + row) * area);
    });
  }
  return new Tensor('float32', data, [maps.length, batch, length, length]);
}

/** (query, key) of one row of the batch. */
function mixedWithIdentity({ data, dims }: Tensor<'float32'>, row: number): Float64Array {
  const [, heads = 0, length = 0] = dims;
  const area = length * length;
  const mixed = new Float64Array(area);
  for (let head = 0; head < heads; head++) {
    const from = (row * heads + head) * area;
    for (let i = 0; i < area; i++) mixed[i] = (mixed[i] as number) + (data[from + i] as number) / heads;
  }
  for (let query = 0; query < length; query++) {
    const weights = mixed.subarray(query * length, (query + 1) * length);
    weights[query] = (weights[query] as number) + 1;
    const sum = weights.reduce((total, weight) => total + weight, 0);
    weights.forEach((weight, key) => {
      weights[key] = weight / sum;
    });
  }
  return mixed;
}

/** @internal Of two matrices (length, length). */
export function product(left: Float64Array, right: Float64Array, length: number): Float64Array {
  const result = new Float64Array(length * length);
  for (let i = 0; i < length; i++) {
    for (let k = 0; k < length; k++) {
      const factor = left[i * length + k] as number;
      if (factor === 0) continue;
      for (let j = 0; j < length; j++) {
        const at = i * length + j;
        result[at] = (result[at] as number) + factor * (right[k * length + j] as number);
      }
    }
  }
  return result;
}
