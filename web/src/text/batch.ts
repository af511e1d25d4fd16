// Turns rows of tokens into a batch: lengths, padding, output form.

import { isWhole } from '../checkpoint/file_rules.js';
import { ClearformerError, textOf } from '../support/error.js';
import type { OrNull } from '../support/or_null.js';
import { mapped, type Steps } from '../support/steps.js';
import { Tensor } from '../tensor/tensor.js';
import type { Token } from './encoder.js';
import { invalid, shown } from './invalid.js';
import type { Side } from './settings.js';
import type { Truncation, TruncationStrategy } from './truncation.js';

/** Options of `tokenizer(text, options)`, with Hugging Face's names. */
export interface TokenizerCallOptions {
  /** Second text of a pair; for a batch one per text. */
  text_pair?: string | readonly string[] | undefined;
  /** true or 'longest': pad to the longest of the batch; 'max_length': to `max_length`. Default false. */
  padding?: boolean | 'longest' | 'max_length' | 'do_not_pad' | undefined;
  /** Default: the tokenizer's own `padding_side`. */
  padding_side?: Side | undefined;
  /** Round the padded length up to a multiple of this; needs `padding`. */
  pad_to_multiple_of?: number | undefined;
  /**
   * true or 'longest_first': truncate to `max_length`, or to the model's maximum, first from the longer text of a pair;
   * 'only_first' and 'only_second' truncate one text. Special tokens are kept. Default false.
   */
  truncation?: boolean | TruncationStrategy | 'do_not_truncate' | undefined;
  /** Default: the tokenizer's own `truncation_side`. */
  truncation_side?: Side | undefined;
  max_length?: number | undefined;
  /** With `return_overflowing_tokens`: the number of tokens that two rows of one text share. Default 0. */
  stride?: number | undefined;
  /** Return truncated tokens as rows of their own, with `overflow_to_sample_mapping`. Default false. */
  return_overflowing_tokens?: boolean | undefined;
  add_special_tokens?: boolean | undefined;
  /** Default: whether the model uses them (`model_input_names` of tokenizer_config.json). */
  return_token_type_ids?: boolean | undefined;
  /** Default: whether the model uses it, as above; without it every position counts, padding too. */
  return_attention_mask?: boolean | undefined;
  return_special_tokens_mask?: boolean | undefined;
  /** Return the position of each token in its text. Default false. */
  return_offsets_mapping?: boolean | undefined;
  return_length?: boolean | undefined;
  /** true (default): Tensors; false: nested arrays of numbers. */
  return_tensor?: boolean | undefined;
}

/** Options of a call that is made in slices of time. */
export interface PacedCallOptions extends Omit<TokenizerCallOptions, 'return_tensor'> {
  signal?: AbortSignal | undefined;
}

/** Information about a batch's tokens. `row` is an index of rows, including those of overflowing tokens. */
export interface TokenInfo {
  /** For each token the index of its word; null for special tokens and padding. */
  word_ids(row?: number): (number | null)[];
  /** For each token 0 for the text, 1 for its pair; null for special tokens and padding. */
  sequence_ids(row?: number): (0 | 1 | null)[];
  /** The tokens, as in the vocabulary. */
  tokens(row?: number): string[];
}

/** int64 tensors [batch, position]: ids, and 1 for tokens, 0 for padding. */
export interface TokenizerOutput extends TokenInfo {
  input_ids: Tensor<'int64'>;
  /** Missing if the folder's `model_input_names` lack it (SigLIP's), or with `return_attention_mask: false`. */
  attention_mask: Tensor<'int64'>;
  token_type_ids?: Tensor<'int64'>;
  /** 1 for special tokens and padding. */
  special_tokens_mask?: Tensor<'int64'>;
  /**
   * [batch, position, 2]: start and end [start, end) of each token in its text, in UTF-16 code units as for
   * `text.slice` (Python's tokenizers count code points); 0, 0 for special tokens and padding.
   */
  offset_mapping?: Tensor<'int64'>;
  /** [batch] */
  length?: Tensor<'int64'>;
  /** [batch]: the index of each row's text. */
  overflow_to_sample_mapping?: Tensor<'int64'>;
}

/** The same as numbers: one array for one text, an array of arrays for several (and with overflowing tokens). */
export interface TokenizerLists<L extends number[] | number[][]> extends TokenInfo {
  input_ids: L;
  /** Missing as `TokenizerOutput`'s. */
  attention_mask: L;
  token_type_ids?: L;
  special_tokens_mask?: L;
  /** In UTF-16 code units, as for `text.slice`. */
  offset_mapping?: L extends number[] ? [number, number][] : [number, number][][];
  length?: number[];
  overflow_to_sample_mapping?: number[];
}

/** Tokenizers as functions. */
export interface TokenizerCall {
  /**
   * Token ids of a text or a batch of texts, or of pairs of them. Rows of different lengths without `padding` throw
   * `shape_mismatch`. Padding and truncation configured in tokenizer.json apply only on request, as in transformers.
   */
  (
    text: string | readonly string[],
    options?: OrNull<TokenizerCallOptions> & { return_tensor?: true | undefined },
  ): TokenizerOutput;
  (
    text: string | readonly string[],
    options: OrNull<TokenizerCallOptions> & { return_tensor: false; return_overflowing_tokens: true },
  ): TokenizerLists<number[][]>;
  (text: string, options: OrNull<TokenizerCallOptions> & { return_tensor: false }): TokenizerLists<number[]>;
  (
    text: readonly string[],
    options: OrNull<TokenizerCallOptions> & { return_tensor: false },
  ): TokenizerLists<number[][]>;
  (
    text: string | readonly string[],
    options?: OrNull<TokenizerCallOptions>,
  ): TokenizerOutput | TokenizerLists<number[]> | TokenizerLists<number[][]>;
}

/** The tokens of one row, and the index of its text. */
export interface Row {
  tokens: readonly Token[];
  sample: number;
}

/** Padding of short rows: with `token`, to `length` (undefined: none). */
export interface Padding {
  length: number | undefined;
  side: Side;
  token: Token;
}

export const callOptions = [
  'text_pair',
  'padding',
  'padding_side',
  'pad_to_multiple_of',
  'truncation',
  'truncation_side',
  'max_length',
  'stride',
  'return_overflowing_tokens',
  'add_special_tokens',
  'return_token_type_ids',
  'return_attention_mask',
  'return_special_tokens_mask',
  'return_offsets_mapping',
  'return_length',
  'return_tensor',
];

const mostPadded = 2 ** 22; // tokens of a row
const strategies: Readonly<Record<string, TruncationStrategy>> = {
  true: 'longest_first',
  longest_first: 'longest_first',
  only_first: 'only_first',
  only_second: 'only_second',
};

/** What calls take from their tokenizer. */
interface Defaults {
  readonly padding_side: Side;
  readonly truncation_side: Side;
  readonly model_max_length: number;
  readonly pad_token_id: number | null;
}

/** The truncation of a call that adds special tokens; undefined: none. */
export function truncationOf(options: TokenizerCallOptions, added: number, own: Defaults): Truncation | undefined {
  const strategy = truncationStrategy(options);
  if (strategy === undefined) return undefined;
  const limit = truncationLimit(options, own.model_max_length);
  if (limit < added) throw invalid('max_length', `max_length ${limit} has no room for ${added} special tokens`);
  const { stride = 0, truncation_side = own.truncation_side } = options;
  return { strategy, room: limit - added, stride, side: checkedSide('truncation_side', truncation_side) };
}

/** The padding of a call's rows, with tokens of a type. */
export function paddingOf(rows: readonly Row[], options: TokenizerCallOptions, own: Defaults, type: number): Padding {
  const longest = rows.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);
  const length = paddedLength(longest, options, own.model_max_length);
  const needed = length !== undefined && rows.some(({ tokens }) => tokens.length < length);
  const id = needed ? own.pad_token_id : 0;
  if (id === null) throw invalid('padding', 'it has no padding token; set tokenizer.pad_token to one of its tokens');
  const token: Token = { id, start: 0, end: 0, word: null, sequence: null, special: true, type };
  const { padding_side = own.padding_side } = options;
  return { length, side: needed ? checkedSide('padding_side', padding_side) : own.padding_side, token };
}

/** The truncation strategy; undefined: none. Throws `invalid_argument` for contradictory options. */
function truncationStrategy(options: TokenizerCallOptions): TruncationStrategy | undefined {
  const { truncation = false, stride, truncation_side = 'left', max_length } = options;
  const name = textOf(truncation);
  const strategy = Object.hasOwn(strategies, name) ? strategies[name] : undefined;
  if (!strategy && !isOff(truncation, 'do_not_truncate')) {
    throw invalid('truncation', `truncation '${name}' is not known`);
  }
  checkedSide('truncation_side', truncation_side);
  if (stride !== undefined && strategy === undefined) throw invalid('stride', 'stride needs truncation');
  if (!isWhole(stride ?? 0)) throw invalid('stride', 'stride must be a whole number from 0 up');
  if (!isWhole(max_length ?? 0)) {
    throw invalid('max_length', `max_length must be a whole number from 0 up, not ${shown(max_length)}`);
  }
  if (max_length !== undefined && strategy === undefined && options.padding !== 'max_length') {
    throw invalid('max_length', "max_length needs truncation: true or padding: 'max_length'");
  }
  return strategy;
}

/** The maximum number of tokens per row; throws `invalid_argument` if it is not given anywhere. */
function truncationLimit(options: TokenizerCallOptions, model_max_length: number): number {
  const limit = options.max_length ?? model_max_length;
  const { pad_to_multiple_of: multiple = 1 } = options;
  if (!isWhole(limit)) {
    throw invalid('max_length', 'truncation needs max_length, since the tokenizer names no maximum');
  }
  if (isWhole(multiple, 1) && !isOff(options.padding ?? false, 'do_not_pad') && limit % multiple !== 0) {
    throw invalid('pad_to_multiple_of', `max_length ${limit} is no multiple of pad_to_multiple_of ${multiple}`);
  }
  return limit;
}

/** The length that rows are padded to; undefined: none. */
function paddedLength(longest: number, options: TokenizerCallOptions, model_max_length: number): number | undefined {
  const { padding = false, max_length, padding_side = 'left', pad_to_multiple_of: multiple } = options;
  checkedSide('padding_side', padding_side);
  if (multiple !== undefined && (!isWhole(multiple, 1) || isOff(padding, 'do_not_pad'))) {
    throw invalid('pad_to_multiple_of', 'pad_to_multiple_of must be a whole number from 1 up, and needs padding');
  }
  if (isOff(padding, 'do_not_pad')) return undefined;
  if (padding !== true && padding !== 'longest' && padding !== 'max_length') {
    throw invalid('padding', `padding '${textOf(padding)}' is not known`);
  }
  const length = padding === 'max_length' ? (max_length ?? model_max_length) : longest;
  if (!isWhole(length)) throw invalid('max_length', "padding 'max_length' needs max_length");
  const padded = multiple === undefined ? length : Math.ceil(length / multiple) * multiple;
  if (padded > mostPadded && padded > longest)
    throw invalid('max_length', `rows of ${padded} tokens, of ${mostPadded}`);
  return padded;
}

function isOff(option: boolean | string, name: string): boolean {
  return option === false || option === name;
}

/** A side, given in a call or set on the tokenizer. Throws `invalid_argument` for what is none. */
function checkedSide(option: string, side: unknown): Side {
  if (side === 'left' || side === 'right') return side;
  throw invalid(option, `${option} must be 'left' or 'right', not ${textOf(side)}`);
}

class BatchInfo implements TokenInfo {
  readonly #rows: readonly (readonly Token[])[];
  readonly #spelling: (id: number) => string;

  constructor(rows: readonly (readonly Token[])[], spelling: (id: number) => string) {
    this.#rows = rows;
    this.#spelling = spelling;
  }

  word_ids(row = 0): (number | null)[] {
    return this.#row(row).map(({ word }) => word);
  }

  sequence_ids(row = 0): (0 | 1 | null)[] {
    return this.#row(row).map(({ sequence }) => sequence);
  }

  tokens(row = 0): string[] {
    return this.#row(row).map(({ id, value }) => value ?? this.#spelling(id));
  }

  #row(row: number): readonly Token[] {
    const tokens = this.#rows[row];
    if (tokens !== undefined) return tokens;
    throw new ClearformerError('invalid_argument', `row ${row} is none of the batch's ${this.#rows.length}`);
  }
}

type Value = number | readonly number[];

/** The batch in the requested form. `single`: it comes from one text, not from an array; `inputs`: what the model takes. */
export function* layOut(
  rows: readonly Row[],
  padding: Padding,
  options: TokenizerCallOptions,
  how: { single: boolean; spelling: (id: number) => string; inputs: readonly string[] },
): Steps<TokenizerOutput | TokenizerLists<number[] | number[][]>> {
  const filled = rows.map(({ tokens }) => padded(tokens, padding));
  const ofTokens: readonly [string, (token: Token) => Value, string?][] = [
    ['input_ids', ({ id }) => id],
    ['attention_mask', (token) => (token === padding.token ? 0 : 1)],
    ['token_type_ids', ({ type }) => type],
    ['special_tokens_mask', ({ special }) => (special ? 1 : 0)],
    ['offset_mapping', ({ start, end }) => [start, end], 'return_offsets_mapping'],
  ];
  const wanted = options as Readonly<Record<string, unknown>>;
  const asLists = options.return_tensor === false;
  const bare = asLists && how.single && !options.return_overflowing_tokens;
  const made: Record<string, unknown> = {};
  for (const [name, value, option = `return_${name}`] of ofTokens) {
    if (!(wanted[option] ?? (name === 'input_ids' || how.inputs.includes(name)))) continue;
    const lists: Value[][] = [];
    for (const row of filled) lists.push(yield* mapped(row, value));
    if (asLists) made[name] = bare ? lists[0] : lists;
    else made[name] = yield* rowsToTensor(lists, name === 'offset_mapping' ? [2] : []);
  }
  const shapeRow = (list: number[]) => (asLists ? list : new Tensor('int64', list, [list.length]));
  if (options.return_length) made.length = shapeRow(filled.map(({ length }) => length));
  if (options.return_overflowing_tokens) made.overflow_to_sample_mapping = shapeRow(rows.map(({ sample }) => sample));
  return Object.assign(new BatchInfo(filled, how.spelling), made) as unknown as TokenizerOutput;
}

function padded(row: readonly Token[], { length, side, token }: Padding): readonly Token[] {
  if (length === undefined || row.length >= length) return row;
  const filling = new Array<Token>(length - row.length).fill(token);
  return side === 'left' ? [...filling, ...row] : [...row, ...filling];
}

function* rowsToTensor(rows: readonly Value[][], inner: readonly number[]): Steps<Tensor<'int64'>> {
  const width = rows[0]?.length ?? 0;
  const odd = rows.findIndex((row) => row.length !== width);
  if (odd >= 0) {
    const message = `tokenizer: text 0 has ${width} tokens, text ${odd} has ${rows[odd]?.length}: pass padding: true`;
    throw new ClearformerError('shape_mismatch', message);
  }
  const values = new BigInt64Array(rows.length * width * (inner[0] ?? 1));
  let at = 0;
  const add = (value: Value) => {
    if (typeof value === 'number') values[at++] = BigInt(value);
    else for (const each of value) values[at++] = BigInt(each);
  };
  for (const row of rows) yield* mapped(row, add);
  return new Tensor('int64', values, [rows.length, width, ...inner]);
}
