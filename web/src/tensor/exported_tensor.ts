// Shared by the tensor export functions: validation, the bytes of a tensor, allocation.

import { ClearformerError, messageOf } from '../support/error.js';
import { expectArgument } from '../support/options.js';
import { isTensor, Tensor } from './tensor.js';

/**
 * Validates the tensor passed to `call`. Throws `invalid_argument` for anything else, `shape_mismatch` for one whose
 * data was transferred to another thread.
 */
export function exportedTensor(call: string, given: unknown): Tensor {
  expectArgument(call, isTensor(given), 'a Tensor', given);
  return new Tensor(given.type, given.data, given.dims);
}

/** Its elements as bytes, little-endian like WebAssembly's memory. */
export function bytesOf({ data, size }: Tensor): Uint8Array {
  // A transferred buffer cannot even be viewed, also when it was empty.
  return size === 0 ? new Uint8Array(0) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** Allocates a file. Throws `out_of_memory` for more bytes than the engine can allocate. */
export function roomFor(call: string, bytes: number): Uint8Array {
  try {
    return new Uint8Array(bytes);
  } catch (thrown) {
    throw new ClearformerError('out_of_memory', `${call}: ${bytes} bytes: ${messageOf(thrown)}`, {}, thrown);
  }
}
