// Tensors as the core gives them, made into Tensors.

import type { TensorOut } from '../runtime/border.js';
import { Tensor } from './tensor.js';

/** A tensor of the core as a Tensor. */
export function toTensor<T extends TensorOut>(out: T): Tensor<T['type']> {
  return new Tensor(out.type, out.data as Tensor<T['type']>['data'], out.dims);
}
