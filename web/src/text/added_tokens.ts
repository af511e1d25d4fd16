// Added tokens such as <s> or [MASK]: they are matched in the text before the model sees it, and never split.

import { shownValue } from '../checkpoint/file_rules.js';
import { isObject } from '../support/kinds.js';
import { atOnce, type Steps } from '../support/steps.js';
import { AlignedText } from './aligned_text.js';
import { classOf } from './code_points.js';
import type { Normalize } from './normalizers.js';
import { idReader, malformed } from './step.js';
import { once, onDemand, whiteSpace } from './unicode.js';

/** One entry of tokenizer.json's `added_tokens`. */
export interface AddedToken {
  id: number;
  content: string;
  single_word?: boolean;
  /** Whether spaces to its left, or right, belong to the token. */
  lstrip?: boolean;
  rstrip?: boolean;
  /** Whether it is matched after normalization, against the normalized text. */
  normalized?: boolean;
  special?: boolean;
}

/** Parses the added tokens of a file. Throws `malformed_config` for an invalid one. */
export function readAddedTokens(held: unknown): AddedToken[] {
  if (held === undefined || held === null) return [];
  if (!Array.isArray(held)) throw malformed(`added_tokens must be a list, and is ${shownValue(held)}`);
  const idFrom = idReader('added_tokens');
  for (const [i, token] of held.entries()) {
    const { id, content } = isObject(token) ? token : {};
    if (typeof content !== 'string')
      throw malformed(`entry ${i} of added_tokens must have a content, a text, and is ${shownValue(token)}`);
    idFrom(id, content);
  }
  return held;
}

/** A piece of a text; `token`: the added token that it is. */
export interface Piece {
  text: AlignedText;
  token?: AddedToken;
}

export type FindAddedTokens = (text: AlignedText) => Steps<Piece[]>;

/** A token and the text that it is found as, and decoded to: normalized, if the text it is searched in is. */
export type SpelledToken = readonly [spelling: string, token: AddedToken];

const isNormalized = ({ normalized, special }: AddedToken) => normalized ?? !special;

export function spelledTokens(tokens: readonly AddedToken[], normalize: Normalize): readonly SpelledToken[] {
  const normalized = (text: string) => atOnce(normalize(AlignedText.of(text, false))).text;
  return tokens.map((token) => [isNormalized(token) ? normalized(token.content) : token.content, token]);
}

/** Splits a text at its added tokens, at special ones unless `splitsSpecial`, and normalizes the text between them. */
export function addedTokenFinder(
  tokens: readonly SpelledToken[],
  normalize: Normalize,
  splitsSpecial: boolean,
): FindAddedTokens {
  if (tokens.some(([, { single_word }]) => single_word)) wordEdges();
  const findRaw = finder(
    tokens.filter(([, token]) => !isNormalized(token)),
    splitsSpecial,
  );
  const findOther = finder(
    tokens.filter(([, token]) => isNormalized(token)),
    splitsSpecial,
  );
  return function* (text) {
    const found: Piece[] = [];
    for (const piece of yield* findRaw(text)) {
      const parts = piece.token === undefined ? yield* findOther(yield* normalize(piece.text)) : [piece];
      for (const part of parts) if (!part.text.isEmpty) found.push(part);
    }
    return found;
  };
}

const wordEdges = once(() => {
  const word = classOf(onDemand().wordCharacters());
  return { end: new RegExp(`${word}$`, 'u'), start: new RegExp(`^${word}`, 'u') };
});
const searchedInStep = 4096; // code units
const space = new RegExp(classOf(whiteSpace), 'u');

function standsAlone(text: string, from: number, to: number): boolean {
  const { end, start } = wordEdges();
  return !end.test(text.slice(Math.max(from - 2, 0), from)) && !start.test(text.slice(to, to + 2));
}

/** Finds the longest spelling at a place by the lengths that there are, however many spellings have them. */
function finder(spellings: readonly SpelledToken[], splitsSpecial: boolean): FindAddedTokens {
  const tokens = new Map(spellings.filter(([spelling]) => spelling));
  const all = [...tokens.keys()];
  const firsts = new Set(all.map((spelling) => spelling[0]));
  const lengths = [...new Set(all.map(({ length }) => length))].sort((a, b) => b - a);
  return function* (aligned) {
    const { text } = aligned;
    const pieces: Piece[] = [];
    let last = 0;
    for (let at = 0; at < text.length; at++) {
      if (at % searchedInStep === 0) yield;
      const length = firsts.has(text[at]) && lengths.find((one) => tokens.has(text.slice(at, at + one)));
      if (!length) continue;
      let from = at;
      let to = at + length;
      at = to - 1;
      const token = tokens.get(text.slice(from, to)) as AddedToken;
      if ((splitsSpecial && token.special) || (token.single_word && !standsAlone(text, from, to))) continue;
      // Space taken by the previous token is not taken again.
      if (token.lstrip) {
        while (from > last && space.test(text.charAt(from - 1))) from--;
        from = Math.max(from, last);
      }
      while (token.rstrip && space.test(text.charAt(to))) to++;
      if (last < from) pieces.push({ text: aligned.slice(last, from) });
      pieces.push({ text: aligned.slice(from, to), token });
      last = to;
    }
    if (last < text.length) pieces.push({ text: aligned.slice(last, text.length) });
    return pieces;
  };
}
