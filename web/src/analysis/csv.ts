// Tensors as comma-separated values (RFC 4180, with LF line ends).

import { exportedTensor } from '../tensor/exported_tensor.js';
import type { Tensor } from '../tensor/tensor.js';
import { joinedText, type NonFinite, numberTexts } from './number_text.js';

const nonFinite: NonFinite = { nan: 'nan', infinity: 'inf', minusInfinity: '-inf' };

/**
 * Serialises a tensor:
 *   2 axes           one line per row, without a header: numpy.loadtxt(…, delimiter=',') reads it
 *   0 or 1 axes      one number per line
 *   more             a header `axis_0,axis_1,axis_2,value`, then one line per element: its indices and its value
 * float32 with the fewest digits that parse to the same float32, integers with all digits; inf, -inf and nan as in
 * Python. Every line ends with a line feed. Throws `invalid_argument` for anything but a Tensor, `out_of_memory` for too
 * long a text.
 */
export function toCSV(tensor: Tensor): string {
  const checked = exportedTensor('toCSV', tensor);
  return joinedText('toCSV', checked, () => table(numberTexts(checked, nonFinite), checked.dims));
}

function table(texts: readonly string[], dims: readonly number[]): string {
  if (dims.length > 2) return lines([header(dims.length), ...texts.map((text, at) => `${placeOf(at, dims)},${text}`)]);
  if (dims.length < 2) return lines(texts);
  const [rows = 0, columns = 0] = dims;
  return lines(Array.from({ length: rows }, (_, row) => texts.slice(row * columns, (row + 1) * columns).join()));
}

const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
const header = (axes: number) => [...Array.from({ length: axes }, (_, axis) => `axis_${axis}`), 'value'].join();

function placeOf(at: number, dims: readonly number[]): string {
  const place: number[] = [];
  let left = at;
  for (const extent of [...dims].reverse()) {
    place.unshift(left % extent);
    left = Math.floor(left / extent);
  }
  return place.join();
}
