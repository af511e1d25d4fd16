// Tensors as the core gives them, made into Tensors.

import type { TensorOut } from '../runtime/border.js';
import { Tensor } from './tensor.js';

/** Captured activations by hook name. */
export type ActivationCache = Record<string, Tensor>;

/** A tensor of the core as a Tensor. */
export function toTensor<T extends TensorOut>(out: T): Tensor<T['type']> {
  return new Tensor(out.type, out.data as Tensor<T['type']>['data'], out.dims);
}

export function toCache(captured: Record<string, TensorOut> | undefined): ActivationCache {
  return Object.fromEntries(Object.entries(captured ?? {}).map(([name, out]) => [name, toTensor(out)]));
}
