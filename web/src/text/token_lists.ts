// What a caller's texts and ids, and a file's vocabularies, are as lists.

import { ClearformerError, readable } from '../support/error.js';
import { expectArgument } from '../support/options.js';
import { isTensor, type Tensor } from '../tensor/tensor.js';
import { shown } from './invalid.js';

/** Token ids of one text. */
export type TokenIds = readonly number[] | readonly bigint[] | Int32Array | BigInt64Array | Tensor;

/** A model's vocabulary. */
export interface Vocabulary {
  readonly ids: ReadonlyMap<string, number>;
  /** All entries by id, if it is a list, which may have one twice. */
  readonly list?: readonly string[] | undefined;
}

/** The number of a vocabulary's entries. */
export const sizeOf = ({ ids, list }: Vocabulary): number => list?.length ?? ids.size;

/** The spellings of all tokens by their ids: as in the crate normalized ones of tokens found in normalized text. */
export function spellings({ ids, list }: Vocabulary, added: readonly (readonly [string, { id: number }])[]): string[] {
  const tokens = [...(list ?? [])];
  for (const [token, id] of list ? [] : ids) tokens[id] = token;
  for (const [token, { id }] of added) tokens[id] = token;
  return tokens;
}

export const isListOfTexts = (given: unknown): boolean =>
  Array.isArray(given) && given.every((one) => typeof one === 'string');

/** Throws `invalid_argument` for what is no list of texts, which it names; holes are none. */
export function expectTexts(call: string, given: unknown): asserts given is readonly string[] {
  const others = Array.isArray(given) ? [...given].filter((one) => typeof one !== 'string') : [given];
  expectArgument(call, others.length === 0, 'a text or an array of texts', others[0]);
}

const isNumber = (value: unknown): value is number | bigint => /^(number|bigint)$/.test(typeof value);

/** Ids, or one, as numbers; throws for what is none. */
export function idList(given: TokenIds | number | bigint, call = 'tokenizer'): number[] {
  return readable(`${call}: ids`, () => {
    const ids = isNumber(given) ? [given] : given;
    const isList = isTensor(ids) || Array.isArray(ids) || ArrayBuffer.isView(ids);
    expectArgument(call, isList, 'token ids', ids);
    if (isTensor(ids) && ids.dims.length !== 1) {
      throw new ClearformerError(
        'shape_mismatch',
        `token ids of one text have dims [position], got [${ids.dims.join(', ')}] (or batch_decode)`,
      );
    }
    return Array.from((isTensor(ids) ? ids.data : ids) as Iterable<number | bigint>, (one) => {
      const id = isNumber(one) ? Number(one) : Number.NaN;
      if (Number.isSafeInteger(id) && id >= 0) return id;
      throw new ClearformerError('invalid_argument', `${shown(one)} is no token id`);
    });
  });
}
