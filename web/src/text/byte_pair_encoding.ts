// Byte-pair encoding: starting with a word's characters, repeatedly merges the pair with the lowest rank.
// Source: Sennrich et al. 2016, arXiv 1508.07909, section 3.2.

import { shownValue } from '../checkpoint/file_rules.js';
import { atOnce, type Steps } from '../support/steps.js';
import {
  byteFallback,
  longWord,
  type Model,
  type ModelParts,
  prefixOf,
  type WordPart,
  type WordParts,
} from './model_parts.js';
import { flagOf, malformed, mustBe, textOf, unsupported } from './step.js';
import { BytePlaces, bytesOfCode } from './utf8.js';

const cachedWords = 10_000;
const longestCached = 256; // code units
const inStep = 512; // characters, or merges

/** The BPE model. Merges are "a b" in older files, ["a", "b"] in newer ones. */
export function bytePairEncoding(parts: ModelParts): Model['tokenize'] {
  const { step, ids } = parts;
  if (step.dropout) throw unsupported('BPE: dropout is random, and not supported');
  const merges = new Merges(parts);
  const symbolsOf = speller(parts);
  const whole = flagOf(step, 'ignore_merges', false);
  const cache = new Map<string, WordParts>();
  function* cut(word: string): Steps<WordParts> {
    return yield* inCodeUnits(word, yield* merges.apply(yield* symbolsOf(word)));
  }
  return (word) => {
    const known = whole ? ids.get(word) : undefined;
    if (known !== undefined) return [{ id: known, from: 0, to: word.length }];
    const cached = cache.get(word);
    if (cached !== undefined) return cached;
    if (word.length >= longWord) return cut(word);
    const found = atOnce(cut(word));
    if (word.length < longestCached && cache.size < cachedWords) cache.set(word, found);
    return found;
  };
}

/**
 * Maps a word's characters to tokens; those missing in the vocabulary to bytes or the unknown token, or drops them. As
 * in the crate, each token takes the next UTF-8 bytes of the word, as many as it stands for: one of the bytes of a
 * prefix or suffix takes one, too, and a pending unknown token stands behind the bytes that follow it.
 */
function speller(parts: ModelParts): (word: string) => Steps<WordPart[]> {
  const { step, ids, unknown } = parts;
  const prefix = prefixOf(step);
  const suffix = textOf(step, 'end_of_word_suffix', '');
  const fuses = flagOf(step, 'fuse_unk', false);
  const bytesOf = byteFallback(parts);
  if (step.unk_token && unknown === undefined)
    throw malformed(`BPE: vocab lacks the unk_token ${JSON.stringify(step.unk_token)}`);
  return function* (word) {
    const symbols: WordPart[] = [];
    let missing = 0; // bytes of the pending unknown token
    let end = 0;
    const add = (id: number, length: number) => {
      symbols.push({ id, from: end, to: end + length });
      end += length;
    };
    const close = () => {
      if (missing > 0 && unknown !== undefined) add(unknown, missing);
      missing = 0;
    };
    let at = 0;
    for (const character of word) {
      if (symbols.length % inStep === 0) yield;
      const spelling = (at > 0 ? prefix : '') + character + (at + character.length === word.length ? suffix : '');
      at += character.length;
      const id = ids.get(spelling);
      const bytes = id === undefined ? bytesOf(spelling) : undefined;
      if (id !== undefined) {
        close();
        add(id, bytesOfCode(character.codePointAt(0)));
      } else if (bytes !== undefined) {
        for (const byte of bytes) add(byte, 1);
      } else if (unknown !== undefined) {
        if (!fuses) close();
        missing += bytesOfCode(character.codePointAt(0));
      }
    }
    close();
    return symbols;
  };
}

/** Converts bytes that follow one another to the code units of whole characters. */
function* inCodeUnits(word: string, parts: WordParts): Steps<WordParts> {
  const found: WordPart[] = [];
  const places = new BytePlaces(word);
  for (const part of parts) {
    const from = places.of(part.from);
    const last = places.of(part.to - 1);
    found.push(last < word.length ? { ...part, from, to: last + places.units } : { ...part, beyond: true });
    if (found.length % inStep === 0) yield;
  }
  return found;
}

class Merges {
  /** The rank of a pair, whose key is left · #count + right. */
  readonly #ranks = new Map<number, number>();
  /** The result of merging the pair of a rank. */
  readonly #merged: number[] = [];
  readonly #count: number;

  constructor({ step, ids }: ModelParts) {
    this.#count = Array.from(ids.values()).reduce((most, id) => Math.max(most, id), 0) + 1;
    const prefix = prefixOf(step).length;
    if (!Array.isArray(step.merges)) throw mustBe(step, 'merges', 'a list');
    for (const [rank, merge] of step.merges.entries()) {
      const [left, right] = halves(merge, rank);
      const [first, second] = [ids.get(left), ids.get(right)];
      const whole = ids.get(left + right.slice(prefix));
      if (first === undefined || second === undefined || whole === undefined) {
        throw malformed(`BPE: merges hold ${left} ${right}, which vocab lacks`);
      }
      this.#ranks.set(first * this.#count + second, rank);
      this.#merged.push(whole);
    }
  }

  *apply(symbols: WordPart[]): Steps<WordParts> {
    if (symbols.length < 2) return symbols;
    // A linked list, so that a merge moves nothing. Candidates are rank · length + position: lowest rank, then
    // leftmost.
    const length = symbols.length;
    const next = Int32Array.from(symbols, (_, i) => i + 1);
    const previous = Int32Array.from(symbols, (_, i) => i - 1);
    const heap: number[] = [];
    const rankAt = (place: number) => this.#rankOf(symbols[place], symbols[next[place] ?? length]);
    const consider = (place: number) => {
      const rank = rankAt(place);
      if (rank !== undefined) push(heap, rank * length + place);
    };
    for (let place = 0; place + 1 < length; place++) {
      consider(place);
      if (place % inStep === 0) yield;
    }
    const gone = new Uint8Array(length);
    for (let top = pop(heap); top !== undefined; top = pop(heap)) {
      if (top % inStep === 0) yield;
      const place = top % length;
      const id = this.#merged[(top - place) / length];
      const rank = gone[place] === 1 ? undefined : rankAt(place);
      const left = symbols[place];
      const after = next[place] ?? length;
      const right = symbols[after];
      // Skip a stale pair, unless it merges to the same token.
      if (rank === undefined || id === undefined || this.#merged[rank] !== id || !left || !right) continue;
      symbols[place] = { id, from: left.from, to: right.to };
      gone[after] = 1;
      const following = next[after] ?? length;
      next[place] = following;
      if (following < length) previous[following] = place;
      const before = previous[place] ?? -1;
      if (before >= 0) consider(before);
      consider(place);
    }
    return symbols.filter((_, place) => gone[place] === 0);
  }

  #rankOf(left: WordPart | undefined, right: WordPart | undefined): number | undefined {
    return left && right && this.#ranks.get(left.id * this.#count + right.id);
  }
}

function halves(merge: unknown, rank: number): readonly [string, string] {
  const [left, right, more]: unknown[] =
    typeof merge === 'string' ? merge.split(' ') : Array.isArray(merge) ? merge : [];
  if (typeof left === 'string' && typeof right === 'string' && more === undefined) return [left, right];
  throw malformed(`BPE: entry ${rank} of merges must be a pair of tokens, and is ${shownValue(merge)}`);
}

/** Inserts a number into a binary min-heap. */
function push(heap: number[], value: number): void {
  let at = heap.length;
  heap.push(value);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const other = heap[above] ?? 0;
    if (other <= value) break;
    heap[at] = other;
    at = above;
  }
  heap[at] = value;
}

/** Removes the smallest number. */
function pop(heap: number[]): number | undefined {
  const least = heap[0];
  const value = heap.pop();
  if (heap.length === 0 || value === undefined) return least;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if ((heap[below + 1] ?? Number.POSITIVE_INFINITY) < (heap[below] ?? Number.POSITIVE_INFINITY)) below++;
    const other = heap[below];
    if (other === undefined || other >= value) break;
    heap[at] = other;
    at = below;
  }
  heap[at] = value;
  return least;
}
