// Tokens for display: the text that each adds after the ones before it.

import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import type { Form } from './forms.js';

/** A token for display. */
export interface Token {
  /** Its text, including a leading space. */
  readonly text: string;
  readonly id?: number | undefined;
  /** Not a piece of the text, such as `<s>`. */
  readonly special?: boolean | undefined;
}

export const tokensForm: Form = [{ text: 'string' }];

/** The part of a tokenizer used for display. */
export type TokenNames = Pick<
  PreTrainedTokenizer,
  'decode' | 'convert_ids_to_tokens' | 'vocab_size' | 'all_special_ids'
>;

/** Number of preceding tokens that are decoded with one: enough for a character spread over several byte tokens. */
const reach = 5;

/** The last of `ids` as a piece of their text. */
export function tokenPiece(tokenizer: TokenNames, ids: readonly number[]): Token {
  const id = ids.at(-1) ?? 0;
  const special = new Set(tokenizer.all_special_ids);
  if (special.has(id)) return { text: tokenName(tokenizer, id), id, special: true };
  const near = ids.slice(-reach).filter((one) => !special.has(one));
  const before = tokenizer.decode(near.slice(0, -1));
  const after = tokenizer.decode(near);
  const text = after.startsWith(before) && !after.endsWith('\uFFFD') ? after.slice(before.length) : '';
  return { text: text === '' ? tokenName(tokenizer, id) : text, id };
}

/** The pieces of a whole text. */
export function tokenPieces(tokenizer: TokenNames, ids: readonly number[]): Token[] {
  return ids.map((_, i) => tokenPiece(tokenizer, ids.slice(0, i + 1)));
}

/** A token as in the vocabulary; some models have more tokens than their vocabulary. */
export function tokenName(tokenizer: TokenNames, id: number): string {
  return id < tokenizer.vocab_size ? (tokenizer.convert_ids_to_tokens([id])[0] ?? '') : `#${id}`;
}

/** A token made visible: spaces alone and line ends get a symbol. */
export function visibleToken(text: string): string {
  if (text === '') return '∅';
  const shown = text.replaceAll('\n', '↵').replaceAll('\t', '⇥');
  return shown.trim() === '' ? shown.replaceAll(' ', '␣') : shown;
}
