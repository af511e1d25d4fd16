// From rows of token ids to a batch: how long its rows become, what fills the short ones, and its form.

import { ClearformerError } from '../support/error.js';
import { Tensor } from '../tensor/tensor.js';

/** Options of `tokenizer(text, options)`, in Hugging Face's spelling. */
export interface TokenizerCallOptions {
  /** Second text of a pair (a pair cannot be truncated yet). */
  text_pair?: string | readonly string[] | undefined;
  /** true or 'longest': to the longest of the batch; 'max_length': to `max_length`. Default false. */
  padding?: boolean | 'longest' | 'max_length' | undefined;
  /** true: cut to `max_length`, or to the model's own maximum; special tokens stay. Default false. */
  truncation?: boolean | undefined;
  max_length?: number | undefined;
  add_special_tokens?: boolean | undefined;
  return_token_type_ids?: boolean | undefined;
  /** true (default): Tensors; false: nested arrays of numbers. */
  return_tensor?: boolean | undefined;
}

/** int64 tensors [batch, position]: ids, and 1 where a token is, 0 where padding is. */
export interface TokenizerOutput {
  input_ids: Tensor<'int64'>;
  attention_mask: Tensor<'int64'>;
  token_type_ids?: Tensor<'int64'>;
}

/** The same as numbers: one array for one text, an array of arrays for several. */
export interface TokenizerLists<L extends number[] | number[][]> {
  input_ids: L;
  attention_mask: L;
  token_type_ids?: L;
}

/** The tokens of one text: ids, and for pairs which of the two texts each belongs to. */
export interface Encoded {
  ids: number[];
  types: number[] | undefined;
}

/** How short rows are filled up; length undefined: they are not. */
export interface Padding {
  length: number | undefined;
  side: 'left' | 'right';
  id: number;
}

export const callOptions = [
  'text_pair',
  'padding',
  'truncation',
  'max_length',
  'add_special_tokens',
  'return_token_type_ids',
  'return_tensor',
];

/** Tokens a text may have; Infinity without truncation. */
export function truncationLimit(options: TokenizerCallOptions, model_max_length: number): number {
  const { truncation = false, padding = false, max_length } = options;
  if (max_length !== undefined && !truncation && padding !== 'max_length') {
    throw invalid('max_length', "max_length needs truncation: true or padding: 'max_length'");
  }
  if (!truncation) return Number.POSITIVE_INFINITY;
  const limit = max_length ?? model_max_length;
  if (Number.isSafeInteger(limit) && limit >= 0) return limit;
  throw invalid('max_length', 'truncation needs max_length, since the tokenizer names no maximum');
}

/** The length rows are padded to; undefined: they are not. */
export function paddedLength(
  longest: number,
  { padding = false, max_length }: TokenizerCallOptions,
  model_max_length: number,
): number | undefined {
  if (padding === false) return undefined;
  if (padding === true || padding === 'longest') return longest;
  if (padding !== 'max_length') throw invalid('padding', `padding '${String(padding)}' is not known`);
  const length = max_length ?? model_max_length;
  if (Number.isSafeInteger(length) && length >= 0) return length;
  throw invalid('max_length', "padding 'max_length' needs max_length");
}

export function invalid(option: string, why: string): ClearformerError {
  return new ClearformerError('invalid_argument', `tokenizer: ${why}`, { option });
}

/** The batch in the form asked for. `single`: it came from one text, not from an array. */
export function layOut(
  rows: readonly Encoded[],
  padding: Padding,
  options: TokenizerCallOptions,
  single: boolean,
): TokenizerOutput | TokenizerLists<number[] | number[][]> {
  const constant = (value: number) => (row: Encoded) => row.ids.map(() => value);
  const lists = {
    input_ids: rows.map((row) => padded(row.ids, padding, padding.id)),
    attention_mask: rows.map((row) => padded(constant(1)(row), padding, 0)),
    ...(options.return_token_type_ids && {
      token_type_ids: rows.map((row) => padded(row.types ?? constant(0)(row), padding, 0)),
    }),
  };
  const asLists = (list: number[][]) => (single ? list[0] : list);
  const shape = options.return_tensor === false ? asLists : rowsToTensor;
  const shaped = Object.entries(lists).map(([name, list]) => [name, shape(list)]);
  return Object.fromEntries(shaped) as TokenizerOutput | TokenizerLists<number[] | number[][]>;
}

function padded(row: number[], { length, side }: Padding, value: number): number[] {
  if (length === undefined || row.length >= length) return row;
  const filling = new Array<number>(length - row.length).fill(value);
  return side === 'left' ? [...filling, ...row] : [...row, ...filling];
}

function rowsToTensor(rows: number[][]): Tensor<'int64'> {
  const width = rows[0]?.length ?? 0;
  const odd = rows.findIndex((row) => row.length !== width);
  if (odd >= 0) {
    const message = `tokenizer: text 0 has ${width} tokens, text ${odd} has ${rows[odd]?.length}: pass padding: true`;
    throw new ClearformerError('shape_mismatch', message);
  }
  return new Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.length, width]);
}
