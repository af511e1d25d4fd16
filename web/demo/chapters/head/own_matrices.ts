// Q, K and V typed or pasted by the reader: rows separated by line breaks or semicolons, values by spaces, commas or
// tabs, as printed by Python or copied from a spreadsheet. In the address: Q|K|V.

import { ClearformerError, Tensor } from 'clearformer';
import type { Float } from './head_numbers.js';

export interface OwnMatrices {
  readonly Q: Float;
  readonly K: Float;
  readonly V: Float;
}

/** Parses one matrix. Throws `invalid_argument` or `shape_mismatch` naming it and the row. */
function parseMatrix(name: string, text: string): Float {
  const lines = text
    .replaceAll('−', '-')
    .replaceAll(/\]\s*,?\s*\[/g, ';')
    .split(/[;\n]/)
    .map((line) => line.replaceAll(/[[\]()]/g, ' ').trim())
    .filter((line) => line !== '');
  const rows = lines.map((line, i) => {
    const numbers = line
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(Number);
    if (numbers.every(Number.isFinite)) return numbers;
    throw new ClearformerError('invalid_argument', `${name}, row ${i + 1}: “${line}” has something that is no number`);
  });
  const width = rows[0]?.length ?? 0;
  if (width === 0) throw new ClearformerError('invalid_argument', `${name} is empty: write one row a line`);
  const ragged = rows.findIndex((row) => row.length !== width);
  if (ragged >= 0) {
    const message = `${name}: row ${ragged + 1} has ${rows[ragged]?.length} numbers, row 1 has ${width}`;
    throw new ClearformerError('shape_mismatch', message);
  }
  return new Tensor('float32', Float32Array.from(rows.flat()), [rows.length, width]);
}

/** Parses the three matrices of an address. Throws `shape_mismatch` if they do not fit together. */
export function parseOwn(text: string): OwnMatrices {
  const [q = '', k = '', v = ''] = text.split('|');
  const [Q, K, V] = [parseMatrix('Q', q), parseMatrix('K', k), parseMatrix('V', v)];
  const differ = (what: string): never => {
    throw new ClearformerError('shape_mismatch', what);
  };
  if (Q.dims[1] !== K.dims[1])
    differ(`Q has ${Q.dims[1]} columns, K has ${K.dims[1]}: a query meets a key number by number`);
  if (K.dims[0] !== V.dims[0]) differ(`K has ${K.dims[0]} rows, V has ${V.dims[0]}: each key has one value`);
  return { Q, K, V };
}

/** The shortest decimal that converts back to the same float32. */
function short(value: number): string {
  for (let digits = 4; digits < 9; digits++) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === value) return String(text);
  }
  return String(Number(value.toPrecision(9)));
}

/** A matrix as text, rows separated by `between`. */
export function matrixText({ dims, data }: Float, between: string): string {
  const [rows = 0, columns = 0] = dims;
  const row = (i: number): string => Array.from(data.slice(i * columns, (i + 1) * columns), short).join(' ');
  return Array.from({ length: rows }, (_, i) => row(i)).join(between);
}

export const ownText = ({ Q, K, V }: OwnMatrices): string => [Q, K, V].map((one) => matrixText(one, ';')).join('|');
