// The largest values of each row, and where they are.

import { ClearformerError, textOf } from '../support/error.js';
import { best } from './elements.js';
import { exportedTensor } from './exported_tensor.js';
import { Tensor, type TensorData, type TensorType } from './tensor.js';

/** torch.topk along the last axis; see `topk`, which is asynchronous as in transformers.js. */
export function largest<T extends TensorType>(
  given: Tensor<T>,
  k: number | null = null,
): [values: Tensor<T>, indices: Tensor<'int64'>] {
  const x = exportedTensor('topk', given) as Tensor<T>;
  const extent = x.dims.at(-1) ?? 1;
  const count = k ?? extent;
  if (!Number.isInteger(count) || count < 1 || count > extent) {
    throw new ClearformerError('invalid_argument', `topk: k must be of 1 to ${extent}, it is ${textOf(k)}`, {
      option: 'k',
    });
  }
  const rows = x.size / extent;
  const values = new (x.data.constructor as Float32ArrayConstructor)(rows * count);
  const indices = new BigInt64Array(rows * count);
  for (let row = 0; row < rows; row++) {
    const data = x.data.subarray(row * extent, (row + 1) * extent) as Float32Array;
    const order = Array.from(data.keys());
    const rank = (i: number) => (Number.isNaN(data[i]) ? Number.POSITIVE_INFINITY : (data[i] as number)); // as torch
    if (count === 1) order[0] = best('topk', data, 1);
    else order.sort((one, other) => Number(rank(one) < rank(other)) - Number(rank(one) > rank(other)));
    for (let i = 0; i < count; i++) {
      values[row * count + i] = data[order[i] as number] as number;
      indices[row * count + i] = BigInt(order[i] as number);
    }
  }
  const dims = x.dims.length === 0 ? [] : [...x.dims.slice(0, -1), count];
  return [new Tensor(x.type, values as unknown as TensorData[T], dims), new Tensor('int64', indices, dims)];
}
