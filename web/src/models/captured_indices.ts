// The indices of the largest numbers that a pass captured (`top_k`), beside its cache.

import { ourName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';
import type { Tensor } from '../tensor/tensor.js';
import type { ActivationCache } from '../tensor/tensor_output.js';

const indices = new WeakMap<ActivationCache, Readonly<Record<string, Tensor<'int64'>>>>();

/** @internal Keeps the indices of a cache. */
export function keepIndices(cache: ActivationCache, found: Readonly<Record<string, Tensor<'int64'>>>): ActivationCache {
  indices.set(cache, found);
  return cache;
}

/**
 * Where the numbers are that `run_with_cache` captured with `top_k`: a tensor of the dims of `cache[hook]` with indices in
 * the whole activation; of positions, in the whole sequence. Throws `invalid_argument` for a hook captured otherwise.
 */
export function capturedIndices(cache: ActivationCache, hook: keyof ActivationCache): Tensor<'int64'> {
  const found = indices.get(cache)?.[ourName(hook)];
  if (found !== undefined) return found;
  throw new ClearformerError('invalid_argument', `capturedIndices: '${hook}' was not captured with top_k`);
}
