// The values that elements draw: numbers with dimensions, and the computation they come from.

import type { Form } from './forms.js';

/** Row-major numbers; a Tensor of the package fits. Only a new object is redrawn, not an array changed in place. */
export interface Numbers {
  readonly dims: readonly number[];
  readonly data: ArrayLike<number>;
}

/** Every element that draws numbers states their source. */
export interface Drawn {
  /**
   * A hook's name with its index, `blocks.2.attn.hook_q[0, :, 4]`, or the call that computed them, `softmax(scores)`.
   */
  source: string;
  numbers: Numbers | undefined;
}

/** A position in a matrix. */
export interface Cell {
  readonly row: number;
  readonly column: number;
}

export const cellForm: Form = { row: 'index', column: 'index' };

export const sameCell = (one: Cell | undefined, other: Cell | undefined): boolean =>
  one === other || (one?.row === other?.row && one?.column === other?.column);

/** Rows and columns; a single dimension is one row. */
export function shapeOf({ dims }: Numbers): readonly [rows: number, columns: number] {
  return dims.length === 1 ? [1, dims[0] ?? 0] : [dims[0] ?? 0, dims[1] ?? 0];
}

/** Why numbers cannot be drawn as a matrix, in a sentence for the page's developer; undefined without numbers. */
export function faultOf({ numbers, source }: Drawn): string | undefined {
  if (numbers === undefined) return undefined;
  const { dims, data } = numbers;
  const whole = (extent: number): boolean => Number.isInteger(extent) && extent >= 0;
  if (!Array.isArray(dims) || !dims.every(whole) || typeof data !== 'object' || typeof data?.length !== 'number') {
    return 'numbers needs { dims, data }, as a Tensor has them';
  }
  if (dims.length === 0 && data.length === 0)
    return 'numbers needs a JSON array of numbers, or of equally long rows of them: [[1, 2], [3, 4]]';
  if (dims.length < 1 || dims.length > 2) {
    return `numbers needs one or two dimensions, dims are [${dims.join(', ')}]; take a slice`;
  }
  const count = dims.reduce((product, extent) => product * extent, 1);
  if (count !== data.length) {
    return `dims [${dims.join(', ')}] need ${count} numbers, data has ${data.length}`;
  }
  if (typeof data[0] === 'bigint') return "int64 cannot be drawn; convert it: tensor.to('float32')";
  if (!ArrayBuffer.isView(data) && Array.from(data).some((value) => typeof value !== 'number')) {
    return 'data needs numbers alone';
  }
  if (!String(source).trim()) {
    return 'source is missing: name the hook that the numbers come from, or the call that made them';
  }
  return undefined;
}

/** Parses numbers from JSON, [1, 2] or [[1, 2], [3, 4]]; undefined for anything else. */
export function numbersFromJson(text: string | null): Numbers | undefined {
  if (text === null || text.trim() === '') return undefined;
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch {
    return { dims: [], data: [] }; // faultOf says what is expected
  }
  if (!Array.isArray(rows)) return { dims: [], data: [] };
  if (rows.some((row) => row?.length !== rows[0]?.length)) return { dims: [], data: [] };
  const data = rows.flat();
  if (!data.every((value) => typeof value === 'number')) return { dims: [], data: [] };
  return Array.isArray(rows[0]) ? { dims: [rows.length, rows[0].length], data } : { dims: [rows.length], data };
}

/** Parses texts from a JSON array. */
export function textsFromJson(text: string | null): readonly string[] {
  if (text === null) return [];
  try {
    const texts: unknown = JSON.parse(text);
    return Array.isArray(texts) ? texts.map(String) : [text];
  } catch {
    return [text];
  }
}

/** The largest finite absolute value; 1 if all are zero. */
export function largest(data: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < data.length; i++) {
    const size = Math.abs(data[i] ?? 0);
    if (size > most && size < Infinity) most = size;
  }
  return most || 1;
}
