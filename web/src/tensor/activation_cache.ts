// Captured activations by name.

import type { TensorOut } from '../runtime/border.js';
import { type HookName, otherName, type TransformerLens3Name } from '../runtime/hook_names.js';
import type { Tensor } from './tensor.js';
import { toTensor } from './tensor_output.js';

/**
 * Captured activations by hook name, in the order of the forward pass. What TransformerLens 3 calls some of them
 * (`blocks.0.hook_in`) reads the same tensors, but is not among the keys.
 */
export type ActivationCache = { readonly [N in HookName | TransformerLens3Name]: Tensor<'float32'> };

/** What a module captured, by names that are its own. */
export type ModuleCache = Readonly<Record<string, Tensor<'float32'>>>;

type Captured = Record<string, TensorOut<'float32'>> | undefined;

export function toModuleCache(captured: Captured): ModuleCache {
  return Object.fromEntries(Object.entries(captured ?? {}).map(([name, out]) => [name, toTensor(out)]));
}

export function toCache(captured: Captured): ActivationCache {
  const cache = toModuleCache(captured);
  for (const [name, value] of Object.entries(cache)) {
    const other = otherName(name);
    if (other !== undefined) Object.defineProperty(cache, other, { value });
  }
  return cache as ActivationCache;
}
