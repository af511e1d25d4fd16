// The indices of the largest numbers that a pass captured (`top_k`), beside its cache.

import { ourName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';
import { expectArgument } from '../support/options.js';
import type { ActivationCache, ModuleCache } from '../tensor/activation_cache.js';
import type { Tensor } from '../tensor/tensor.js';

type Indices = Readonly<Record<string, Tensor<'int64'>>> | undefined;

const indices = new WeakMap<ModuleCache, Indices>();

/** @internal The indices kept of a cache. */
export const indicesOf = (cache: ModuleCache): Indices => indices.get(cache);

/** @internal Keeps the indices of a cache. */
export function keepIndices<C extends ModuleCache>(cache: C, found: Indices): C {
  indices.set(cache, found);
  return cache;
}

/**
 * Where the numbers are that a model or a module captured with `top_k`: a tensor of the dims of `cache[hook]` with
 * indices in the whole activation; of positions, in the whole sequence. Throws `invalid_argument` for a hook captured
 * otherwise.
 */
export function capturedIndices<C extends ActivationCache | ModuleCache>(
  cache: C,
  hook: keyof C & string,
): Tensor<'int64'> {
  expectArgument('capturedIndices', typeof hook === 'string', 'the name of a hook', hook);
  const found = indices.get(cache)?.[ourName(hook)];
  if (found !== undefined) return found;
  throw new ClearformerError('invalid_argument', `capturedIndices: '${hook}' was not captured with top_k`);
}
