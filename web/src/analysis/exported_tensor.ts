// What the export of tensors shares: the check of what is given, the bytes of a tensor, room for a file.

import { ClearformerError, messageOf, textOf } from '../support/error.js';
import { Tensor } from '../tensor/tensor.js';

/**
 * The tensor that `call` was given, checked. Throws `invalid_argument` for anything else, `shape_mismatch` for one whose
 * data was transferred to another thread.
 */
export function exportedTensor(call: string, given: unknown): Tensor {
  const { type, data, dims } = (given ?? {}) as Tensor;
  if (type === undefined || !Array.isArray(dims)) {
    throw new ClearformerError('invalid_argument', `${call}: needs a Tensor, got ${textOf(given)}`);
  }
  return new Tensor(type, data, dims);
}

/** Its elements as bytes, little-endian as WebAssembly's memory is. */
export function bytesOf({ data, size }: Tensor): Uint8Array {
  // Nothing may be done with an array whose buffer was transferred, not even when it is empty.
  return size === 0 ? new Uint8Array(0) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** Room for a file. Throws `out_of_memory` for more bytes than the engine can give. */
export function roomFor(call: string, bytes: number): Uint8Array {
  try {
    return new Uint8Array(bytes);
  } catch (thrown) {
    throw new ClearformerError('out_of_memory', `${call}: ${bytes} bytes: ${messageOf(thrown)}`, {}, thrown);
  }
}
