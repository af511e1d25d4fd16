// Attention maps as input of an analysis: a list with one per layer, or the cache they were captured in.

import { ClearformerError, textOf } from '../support/error.js';
import { isA } from '../support/kinds.js';
import type { Tensor } from '../tensor/tensor.js';

/** Attention maps [batch, head, query, key] of all layers in order, or a cache with the maps of one stack of layers. */
export type AttentionPatterns = readonly Tensor<'float32'>[] | Readonly<Record<string, Tensor<'float32'>>>;

const patternName = /^((?:.*\.)?)(\d+)\.attn\.hook_pattern$/;

/**
 * The maps of self-attention in layer order, all of the same shape [batch, head, position, position].
 * Throws `invalid_argument` for anything else, including a cache without maps or with those of several stacks, and
 * names the first missing layer; `shape_mismatch` for other dims, such as those of cross-attention.
 */
export function selfAttention(call: string, patterns: AttentionPatterns): Tensor<'float32'>[] {
  const list = isList(patterns) ? [...patterns] : fromCache(call, patterns);
  const [first] = list;
  if (first === undefined) throw invalid(`${call}: needs attention maps, got none`);
  list.forEach((tensor, layer) => {
    if (!isA(tensor?.data, 'Float32Array')) {
      throw invalid(`${call}: the attention map of layer ${layer} is no float32 Tensor`);
    }
    const { dims } = tensor;
    const square = dims.length === 4 && dims[2] === dims[3];
    if (square && dims.every((extent, axis) => extent === first.dims[axis])) return;
    throw new ClearformerError(
      'shape_mismatch',
      `${call}: needs self-attention [batch, head, position, position] of one text, layer ${layer} has [${dims.join(', ')}]`,
    );
  });
  return list;
}

const isList = (patterns: AttentionPatterns): patterns is readonly Tensor<'float32'>[] => Array.isArray(patterns);

function fromCache(call: string, cache: Readonly<Record<string, Tensor<'float32'>>>): Tensor<'float32'>[] {
  if (typeof cache !== 'object' || cache === null) {
    throw invalid(`${call}: needs attention maps or a cache that holds them, got ${textOf(cache)}`);
  }
  const found = new Map<number, Tensor<'float32'>>();
  const stacks = new Set<string>();
  for (const [name, tensor] of Object.entries(cache)) {
    const [, stack, layer] = patternName.exec(name) ?? [];
    if (stack === undefined) continue;
    stacks.add(stack);
    found.set(Number(layer), tensor);
  }
  const [stack = 'blocks.'] = stacks;
  if (stacks.size > 1)
    throw invalid(`${call}: the cache holds several stacks of layers (${[...stacks].join(', ')}): give one`);
  const layers = Math.max(0, ...found.keys()) + 1;
  return Array.from({ length: layers }, (_, layer) => {
    const tensor = found.get(layer);
    if (tensor === undefined) throw invalid(`${call}: the cache lacks ${stack}${layer}.attn.hook_pattern`);
    return tensor;
  });
}

const invalid = (message: string) => new ClearformerError('invalid_argument', message);
