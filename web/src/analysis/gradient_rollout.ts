// Attention × gradient rollout: relevance of each position for a metric, through all layers, where attention counts as far
// as it raises the metric:
//   Ā = mean_h (∇A_h ⊙ A_h)⁺,   R ← R + Ā·R,   R₀ = I
// Source: Chefer et al. 2021, "Generic Attention-model Explainability", arXiv 2103.15679, equations 5 and 6.

import type { DifferentiatedCache } from '../models/gradient.js';
import { ClearformerError } from '../support/error.js';
import { expectArgument } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import { type AttentionPatterns, selfAttention } from './attention_patterns.js';
import { product } from './attention_rollout.js';

/**
 * The relevance after each layer, [n_layers, batch, query, key]; the row of the position that the metric reads, such as
 * the class token's or the last one's, tells how much each position matters. Takes a cache with every `hook_pattern` of one
 * stack of layers and `grad`, from `run_with_cache` with a metric. Accumulated in double precision. Throws
 * `invalid_argument` if a layer's map or gradient is missing, `shape_mismatch` for maps that are not of self-attention, and gradients
 * of others.
 */
export function gradientRollout(
  cache: DifferentiatedCache | { patterns: AttentionPatterns; gradients: AttentionPatterns },
): Tensor<'float32'> {
  expectArgument('gradientRollout', typeof cache === 'object' && cache, 'a cache', cache);
  const given = 'patterns' in cache ? cache : { patterns: cache, gradients: (cache as DifferentiatedCache).grad };
  const maps = selfAttention('gradientRollout', given.patterns as AttentionPatterns);
  const gradients = selfAttention('gradientRollout: gradients', given.gradients as AttentionPatterns);
  const dims = maps[0]?.dims ?? [];
  if (gradients.length !== maps.length || String(gradients[0]?.dims) !== String(dims)) {
    const both = [maps, gradients].map((list) => `${list.length} of [${list[0]?.dims.join(', ')}]`).join(' maps, ');
    throw new ClearformerError('shape_mismatch', `gradientRollout: ${both} gradients`);
  }
  const [batch = 0, , length = 0] = dims;
  const area = length * length;
  const data = new Float32Array(maps.length * batch * area);
  for (let row = 0; row < batch; row++) {
    const relevance = new Float64Array(area);
    for (let i = 0; i < length; i++) relevance[i * (length + 1)] = 1;
    maps.forEach((map, layer) => {
      const added = product(raised(map, gradients[layer] as Tensor<'float32'>, row), relevance, length);
      for (let i = 0; i < area; i++) relevance[i] = (relevance[i] as number) + (added[i] as number);
      data.set(relevance, (layer * batch + row) * area);
    });
  }
  return new Tensor('float32', data, [maps.length, batch, length, length]);
}

/** The mean over the heads of what is positive in gradient ⊙ map, (query, key) of one row of the batch. */
function raised({ data, dims }: Tensor<'float32'>, gradient: Tensor<'float32'>, row: number): Float64Array {
  const [, heads = 0, length = 0] = dims;
  const area = length * length;
  const mean = new Float64Array(area);
  for (let head = 0; head < heads; head++) {
    const from = (row * heads + head) * area;
    for (let i = 0; i < area; i++) {
      const product = (data[from + i] as number) * (gradient.data[from + i] as number);
      if (product > 0) mean[i] = (mean[i] as number) + product / heads;
    }
  }
  return mean;
}
