// Text with alignment: after every change each UTF-16 code unit still has its span of the original.
// New characters inherit spans by the rules of the `tokenizers` crate's NormalizedString.

import { atOnce, type Steps } from '../support/steps.js';
import { expectShort, invalid } from './invalid.js';
import type { Pattern } from './pattern.js';

/** Half-open span [start, end) of the original text in UTF-16 code units. */
export type Span = readonly [start: number, end: number];

/**
 * Characters of a rewritten text and how many old ones each replaces: 0 none (it is inserted), 1 one, n one and n - 1
 * removed ones.
 */
export type Rewritten = readonly (readonly [character: string, taken: number])[];

const wholeCharacter = /[\s\S]/gu;
const segment = 2 ** 14; // code units that are changed at a time
const matchesInStep = 256;

/** A text, or a piece of one, passed through normalizers and pre-tokenizers. Immutable. */
export class AlignedText {
  private constructor(
    readonly text: string,
    /** Where the piece begins in the original. */
    private readonly start: number,
    /** Start and end of each code unit's span; undefined while the text is unchanged. */
    private readonly spans: readonly number[] | undefined,
    private readonly tracked: boolean,
  ) {
    expectShort(text.length);
  }

  /** Spans cost time: without `tracked` they are not kept, and `spanOf` is meaningless. */
  static of(text: string, tracked: boolean): AlignedText {
    return new AlignedText(text, 0, undefined, tracked);
  }

  /** Pieces that follow one another, as one. */
  static joined(pieces: readonly AlignedText[]): AlignedText {
    const [first, second] = pieces;
    if (first !== undefined && second === undefined) return first;
    const text = pieces.map((piece) => piece.text).join('');
    expectShort(text.length);
    const spans: number[] = [];
    for (const piece of pieces) piece.#copy(0, piece.text.length, spans);
    return first?.tracked ? new AlignedText(text, first.start, spans, true) : AlignedText.of(text, false);
  }

  get isEmpty(): boolean {
    return this.text === '';
  }

  /** The span of the original for the code units [from, to) of this text. */
  spanOf(from: number, to: number): Span {
    return [this.#edge(from, 0), this.#edge(to - 1, 1)];
  }

  slice(from: number, to: number): AlignedText {
    if (from === 0 && to === this.text.length) return this;
    const spans = this.spans?.slice(2 * from, 2 * to);
    const start = this.spans?.[2 * from] ?? this.start + from;
    return new AlignedText(this.text.slice(from, to), start, spans, this.tracked);
  }

  /** Replaces every match of a global pattern. The replacement gets the span of the match's last character. */
  replace(pattern: Pattern, content: (match: string) => string): AlignedText {
    if (this.isEmpty) return this; // as in the crate, in which nothing matches an empty text
    if (!this.tracked) return this.#changed(pattern[Symbol.replace](this.text, content));
    return atOnce(this.replaced(pattern, content));
  }

  /** The same in steps. */
  *replaced(pattern: Pattern, content: (match: string) => string): Steps<AlignedText> {
    const spans: number[] = [];
    let text = '';
    let last = -1;
    let count = 0;
    if (this.isEmpty) return this;
    for (const found of pattern[Symbol.matchAll](this.text)) {
      if (found === undefined || ++count % matchesInStep === 0) yield;
      if (found === undefined) continue;
      const { 0: match, index } = found;
      this.#copy(Math.max(last, 0), index, spans);
      const replacement = content(match);
      text += this.text.slice(Math.max(last, 0), index) + replacement;
      expectShort(text.length);
      last = index + match.length;
      this.#repeat(last - 1, replacement.length, spans);
    }
    if (last < 0) return this;
    this.#copy(last, this.text.length, spans);
    return this.#changed(text + this.text.slice(last), spans);
  }

  /** Prepends `text`, which gets the first character's span. */
  prepend(text: string): AlignedText {
    if (this.isEmpty || text === '') return this;
    const spans: number[] = [];
    this.#repeat(0, text.length, spans);
    this.#copy(0, this.text.length, spans);
    return this.#changed(text + this.text, spans);
  }

  /** Replaces the whole text. Without spans `rewritten` is not called and `text` is the result. */
  rewrite(text: string, rewritten: () => Rewritten): AlignedText {
    if (text === this.text) return this;
    if (!this.tracked) return this.#changed(text);
    const ends = Array.from(this.text.matchAll(wholeCharacter), ({ 0: character, index }) => index + character.length);
    const spans: number[] = [];
    let taken = 0;
    for (const [character, takes] of rewritten()) {
      const source = Math.min(takes === 0 ? taken - 1 : taken, ends.length - 1);
      this.#repeat((ends[source] ?? 0) - 1, character.length, spans);
      taken += takes;
    }
    return this.#changed(text, spans);
  }

  #changed(text: string, spans?: readonly number[]): AlignedText {
    return new AlignedText(text, this.start, this.tracked ? spans : undefined, this.tracked);
  }

  /** Start (side 0) or end (side 1) of the span of the character that contains the code unit `at`. */
  #edge(at: number, side: 0 | 1): number {
    if (at < 0) return this.start; // of what is inserted before the first character
    if (this.spans !== undefined) return this.spans[2 * at + side] as number;
    const code = this.text.charCodeAt(at);
    const isLow = code >= 0xdc00 && code < 0xe000;
    const isHigh = code >= 0xd800 && code < 0xdc00;
    return this.start + at + (side === 0 ? -Number(isLow) : 1 + Number(isHigh));
  }

  #copy(from: number, to: number, spans: number[]): void {
    if (!this.tracked) return;
    for (let at = from; at < to; at++) spans.push(this.#edge(at, 0), this.#edge(at, 1));
  }

  #repeat(at: number, times: number, spans: number[]): void {
    if (!this.tracked) return;
    const [start, end] = [this.#edge(at, 0), this.#edge(at, 1)];
    for (let i = 0; i < times; i++) spans.push(start, end);
  }
}

/** Whether a text may be cut at a place, for what is done to each character by itself. */
const betweenCharacters = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) !== 0xdc00;

/**
 * Changes a text segment by segment: about `length` code units, to a place that `isBorder` finds. Throws `invalid_argument`
 * for a text without such places.
 */
export function* inSegments(
  whole: AlignedText,
  change: (part: AlignedText) => AlignedText,
  isBorder: (text: string, at: number) => boolean = betweenCharacters,
  length = segment,
): Steps<AlignedText> {
  const { text } = whole;
  if (text.length <= length) return change(whole);
  const parts: AlignedText[] = [];
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = Math.min(from + length, text.length);
    while (to < text.length && !isBorder(text, to)) to++;
    if (to - from >= 2 * length) throw invalid('text', `${length} marks belong to no character`);
    parts.push(change(whole.slice(from, to)));
    yield;
  }
  return AlignedText.joined(parts);
}
