// NumPy's format for one array: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

import { ClearformerError } from '../support/error.js';
import { bytesOf, exportedTensor, roomFor } from '../tensor/exported_tensor.js';
import type { Tensor } from '../tensor/tensor.js';

const descriptions = { float32: '<f4', int32: '<i4', int64: '<i8', uint8: '|u1', int8: '|i1' };
const mostAxes = 64; // NumPy 2's limit
const growth = 21; // digits that numpy.save reserves so that a file's first axis can grow in place

/**
 * A .npy file, format 1.0, C order: `numpy.load` returns an array with the tensor's dims and type, bit for bit,
 * including infinities and NaN. The bytes are the ones that numpy.save writes.
 * Throws `invalid_argument` for anything but a Tensor, `unsupported` for more than 64 axes, NumPy's limit.
 */
export function toNpy(tensor: Tensor): Uint8Array {
  const checked = exportedTensor('toNpy', tensor);
  if (checked.dims.length > mostAxes) {
    throw new ClearformerError('unsupported', `toNpy: ${checked.dims.length} axes, NumPy's arrays have ${mostAxes}`);
  }
  const header = headerOf(checked);
  const start = 10 + header.length; // multiple of 64, so that the file can be mapped into memory
  const content = bytesOf(checked);
  const file = roomFor('toNpy', start + content.byteLength);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]); // magic "\x93NUMPY", version 1.0
  new DataView(file.buffer).setUint16(8, header.length, true);
  for (let i = 0; i < header.length; i++) file[10 + i] = header.charCodeAt(i);
  file.set(content, start);
  return file;
}

/** A Python dict literal, padded with spaces and ended by a line feed. */
function headerOf({ type, dims }: Tensor): string {
  const shape = dims.length === 1 ? `${dims[0]},` : dims.join(', ');
  const room = dims.length === 0 ? 0 : growth - String(dims[0]).length;
  const text = `{'descr': '${descriptions[type]}', 'fortran_order': False, 'shape': (${shape}), }${' '.repeat(room)}`;
  const filled = Math.ceil((10 + text.length + 1) / 64) * 64;
  return `${text.padEnd(filled - 11)}\n`;
}
