// Tensors as JSON text.

import { exportedTensor } from '../tensor/exported_tensor.js';
import type { Tensor } from '../tensor/tensor.js';
import { joinedText, type NonFinite, numberTexts } from './number_text.js';

const nonFinite: NonFinite = { nan: '"NaN"', infinity: '"Infinity"', minusInfinity: '"-Infinity"' };

/**
 * `{"type":"float32","dims":[2,1],"data":[[0.5],["-Infinity"]]}`: data nested as deep as there are dims. float32 with
 * the fewest digits that parse to the same float32; values that JSON cannot represent are the strings "NaN", "Infinity"
 * and "-Infinity", which Number() and Python's float() parse. int64 have all digits: Python keeps them, JSON.parse
 * rounds those beyond 2^53. Throws `invalid_argument` for anything but a Tensor, `out_of_memory` for too long a text.
 */
export function toJSON(tensor: Tensor): string {
  const checked = exportedTensor('toJSON', tensor);
  const { type, dims } = checked;
  const texts = numberTexts(checked, nonFinite);
  const nest = (axis: number, offset: number, stride: number): string => {
    const extent = dims[axis];
    if (extent === undefined) return texts[offset] as string;
    const inner = stride / Math.max(extent, 1);
    return `[${Array.from({ length: extent }, (_, i) => nest(axis + 1, offset + i * inner, inner)).join()}]`;
  };
  const json = () => `{"type":"${type}","dims":[${dims.join()}],"data":${nest(0, 0, texts.length)}}`;
  return joinedText('toJSON', checked, json);
}
