// The selected cell in the address: `S6` is column 6 in the row of the token in focus, `K1.7` a row and a column; `S`
// alone selects the row's largest value, `S+` a masked cell.

import { at, type HeadData, largestAt, type MatrixName, rowOf } from './head_numbers.js';

export interface Selected {
  readonly matrix: MatrixName;
  /** Row and column of the matrix's numbers (of K: the key and the element). */
  readonly row: number;
  readonly column: number;
}

/** Whether the rows of a matrix are keys, not queries. */
export const ofKeys = (matrix: MatrixName): boolean => matrix === 'K' || matrix === 'V';

export function selectionText({ matrix, row, column }: Selected): string {
  return ofKeys(matrix) ? `${matrix}${row}.${column}` : `${matrix}${column}`;
}

export function selectionOf(text: string, data: HeadData): Selected {
  const { before, now, focus } = data;
  const found = /^([QKVSAZ])(\+)?(?:(\d+)(?:\.(\d+))?)?$/.exec(text);
  const matrix = (found?.[1] ?? 'S') as MatrixName;
  const best = largestAt(rowOf(before.A, focus));
  const [first, second] = [found?.[3], found?.[4]].map((part) => (part === undefined ? undefined : Number(part)));
  const numbers = matrix === 'S' ? now.masked : now[matrix];
  const [rows = 1, columns = 1] = numbers.dims;
  const row = ofKeys(matrix) ? (first ?? best) : focus;
  const column = ofKeys(matrix) ? second : first;
  const within = { matrix, row: Math.min(row, rows - 1), column: Math.min(column ?? 0, columns - 1) };
  if (column !== undefined) return within;
  if (found?.[2] === '+') return hidden(data) ?? within;
  if (matrix === 'S' || matrix === 'A') return { ...within, column: best };
  return { ...within, column: largestAt(rowOf(numbers, within.row).map(Math.abs)) };
}

/** A masked cell: in the row in focus, else the first one found. */
function hidden({ now, focus }: HeadData): Selected | undefined {
  const [rows = 0, columns = 0] = now.masked.dims;
  for (const row of [focus, ...Array.from({ length: rows }, (_, i) => rows - 1 - i)]) {
    for (let column = columns - 1; column >= 0; column--) {
      if (at(now.masked, row, column) === Number.NEGATIVE_INFINITY)
        return { matrix: 'S', row, column: Math.min(column, row + 2) };
    }
  }
  return undefined;
}
