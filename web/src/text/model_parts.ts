// The interface of tokenizer models, and their common parts.

import { ClearformerError } from '../support/error.js';
import type { Steps } from '../support/steps.js';
import { flagOf, type Step, textOf, unsupported } from './step.js';
import type { Vocabulary } from './token_lists.js';
import { utf8Of } from './utf8.js';

/** A token of a word: its id and the UTF-16 code units [from, to) of the word. */
export interface WordPart {
  id: number;
  from: number;
  to: number;
  /** `from` and `to` are UTF-8 bytes, and reach beyond the word. */
  beyond?: boolean;
  /** Its text, if it differs from the vocabulary's entry. */
  value?: string;
}

export type WordParts = readonly WordPart[];

/** Code units a token may have where words are searched for tokens: otherwise time grows as its square. */
export const longestToken = 256;

export function tooLongToken(type: string, length: number): ClearformerError {
  return unsupported(`${type}: vocab has a token of ${length} characters, of ${longestToken}`);
}

/** From so many code units on a word is cut in steps. */
export const longWord = 2 ** 12;

/** A vocabulary and a function that splits words into tokens. */
export interface Model extends Vocabulary {
  readonly kind: 'BPE' | 'WordPiece' | 'Unigram' | 'WordLevel';
  /** What marks tokens that continue a word. */
  readonly prefix?: string;
  tokenize(word: string): WordParts | Steps<WordParts>;
}

/** The parts common to all kinds of model. */
export interface ModelParts {
  readonly step: Step;
  readonly ids: ReadonlyMap<string, number>;
  /** The id of the unknown token. */
  readonly unknown: number | undefined;
}

/** What marks tokens that continue a word, of a kind of model that can have such. */
export const prefixOf = (step: Step): string =>
  textOf(step, 'continuing_subword_prefix', step.type === 'WordPiece' ? '##' : '');

/** A token with its score, as Unigram's vocabulary lists them. */
export type Scored = readonly (readonly [token: string, score: number])[];

export function idOrUnknown({ ids, unknown }: ModelParts, token: string): number {
  const id = ids.get(token) ?? unknown;
  if (id !== undefined) return id;
  throw new ClearformerError(
    'invalid_argument',
    'tokenizer: the text has a part no token stands for, and there is no unknown token',
  );
}

/** The tokens <0x00> … <0xFF> of a text's bytes, if byte fallback is on and the vocabulary has them all. */
export function byteFallback({ step, ids }: ModelParts): (text: string) => number[] | undefined {
  if (!flagOf(step, 'byte_fallback', false)) return () => undefined;
  return (text) => {
    const names = Array.from(utf8Of(text), (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
    const found = names.map((name) => ids.get(name)).filter((id) => id !== undefined);
    return found.length === names.length ? found : undefined;
  };
}
