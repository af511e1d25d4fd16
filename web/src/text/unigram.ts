// Unigram: the most probable segmentation of a word into tokens. Source: Kudo 2018, arXiv 1804.10959.

import { atOnce, type Steps } from '../support/steps.js';
import {
  byteFallback,
  idOrUnknown,
  longestToken,
  longWord,
  type Model,
  type ModelParts,
  type Scored,
  tooLongToken,
  type WordPart,
  type WordParts,
} from './model_parts.js';
import { malformed } from './step.js';

const inStep = 512; // characters, or tokens
const unknownPenalty = 10; // SentencePiece's: score of an unknown character below that of the rarest token

export function unigram(parts: ModelParts, vocab: Scored): Model['tokenize'] {
  if (vocab.length === 0) throw malformed('Unigram: vocab is empty');
  if (parts.unknown !== undefined && parts.unknown >= vocab.length) {
    throw malformed(`Unigram: unk_id ${parts.unknown} is beyond the vocab of ${vocab.length} tokens`);
  }
  const bytesOf = byteFallback(parts);
  const scores = vocab.map(([, score]) => asCrateReads(score));
  const least = scores.reduce((low, score) => Math.min(low, score), Number.POSITIVE_INFINITY);
  const trie = trieOf(vocab, parts.ids);
  const newSearch = () => new Search(parts, scores, least - unknownPenalty, trie);
  const usual = newSearch();
  function* cut(word: string, search: Search): Steps<WordParts> {
    search.begin(word);
    for (let at = 0; at < word.length; yield) at = search.advance(word, at, at + inStep);
    const found: WordPart[] = [];
    for (const { from, to } of search.bestPath(word)) {
      const value = word.slice(from, to);
      const id = parts.ids.get(value);
      const bytes = id === undefined ? bytesOf(value) : undefined;
      if (bytes === undefined) found.push({ id: id ?? idOrUnknown(parts, value), from, to, value });
      else for (const byte of bytes) found.push({ id: byte, from, to });
      if (found.length % inStep === 0) yield;
    }
    return found;
  }
  // While a long word is left in between, others may be searched.
  return (word) => (word.length >= longWord ? cut(word, newSearch()) : atOnce(cut(word, usual)));
}

/** A token's part of a word. */
interface Part {
  from: number;
  to: number;
}

/** A trie of the tokens' code points; `id`: the token that ends here, or -1. */
interface Trie {
  next?: Map<number, Trie>; // undefined of a leaf
  id: number;
}

function trieOf(vocab: Scored, ids: ReadonlyMap<string, number>): Trie {
  const root: Trie = { id: -1 };
  for (const [token] of vocab) {
    if (token.length > longestToken) throw tooLongToken('Unigram', token.length);
    let node = root;
    for (let at = 0; at < token.length; ) {
      const code = token.codePointAt(at) ?? 0;
      node.next ??= new Map();
      const child = node.next.get(code) ?? { id: -1 };
      node.next.set(code, child);
      node = child;
      at += unitsOf(code);
    }
    node.id = ids.get(token) ?? -1;
  }
  return root;
}

/** UTF-16 code units of a code point. */
function unitsOf(code: number): number {
  return code > 0xffff ? 2 : 1;
}

/**
 * The crate parses a decimal's digits as one integer and divides, which can differ from the nearest double by one ulp.
 * If two segmentations have the same tokens in another order, that decides which sum is greater.
 */
function asCrateReads(score: number): number {
  const [whole = '', fraction = ''] = String(score).split('.');
  return /e/.test(fraction) ? score : Number(whole + fraction) / Number(`1e${fraction.length}`);
}

class Search {
  // By position in the word: the start of the best last token (-1: not reached), the sum up to here, whether it is
  // unknown. Reused from word to word.
  #from = new Int32Array(64);
  #score = new Float64Array(64);
  #unknown = new Uint8Array(64);

  constructor(
    private readonly parts: ModelParts,
    private readonly scores: readonly number[],
    private readonly unknownScore: number,
    private readonly trie: Trie,
  ) {}

  /** Viterbi: processes the tokens that begin at positions from `start` to `end`; returns the next position. */
  advance(word: string, start: number, end: number): number {
    let from = start;
    while (from < Math.min(end, word.length)) {
      const next = from + unitsOf(word.codePointAt(from) ?? 0);
      const score = this.#score[from] ?? 0;
      if (!this.#tokensFrom(word, from, next)) this.#reach(from, next, this.unknownScore + score, 1);
      from = next;
    }
    return from;
  }

  /** The segmentation with the highest sum of scores; adjacent unknown characters are merged. */
  bestPath(word: string): Part[] {
    const path: Part[] = [];
    for (let to = word.length, after = false; to > 0; ) {
      const from = this.#from[to] ?? 0;
      const unknown = this.#unknown[to] === 1;
      const last = path.at(-1);
      if (unknown && after && last !== undefined) last.from = from;
      else path.push({ from, to });
      after = unknown;
      to = from;
    }
    return path.reverse();
  }

  begin(word: string): void {
    const places = word.length + 1;
    if (this.#from.length < places) {
      this.#from = new Int32Array(2 * places);
      this.#score = new Float64Array(2 * places);
      this.#unknown = new Uint8Array(2 * places);
    }
    this.#from.fill(-1, 0, places);
    this.#score[0] = 0;
  }

  /** Extends paths to the end of every token that begins at `from`; returns whether `next` is one. */
  #tokensFrom(word: string, from: number, next: number): boolean {
    const score = this.#score[from] ?? 0;
    let [reachesNext, node]: [boolean, Trie | undefined] = [false, this.trie];
    for (let to = from; to < word.length; ) {
      const code = word.codePointAt(to) ?? 0;
      node = node.next?.get(code);
      if (node === undefined) break;
      to += unitsOf(code);
      if (node.id < 0) continue;
      this.#reach(
        from,
        to,
        (this.scores[node.id] ?? this.unknownScore) + score,
        Number(node.id === this.parts.unknown),
      );
      reachesNext ||= to === next;
    }
    return reachesNext;
  }

  #reach(from: number, to: number, score: number, unknown: number): void {
    if ((this.#from[to] ?? 0) >= 0 && score <= (this.#score[to] ?? 0)) return;
    this.#from[to] = from;
    this.#score[to] = score;
    this.#unknown[to] = unknown;
  }
}
