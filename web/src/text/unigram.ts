// Unigram: of all ways to cut a word into tokens the most probable. Source: Kudo 2018, arXiv 1804.10959.

import { byteFallback, idOrUnknown, type Model, type ModelParts, type Scored } from './model_parts.js';
import { malformed } from './step.js';

const unknownPenalty = 10; // SentencePiece's: an unknown character scores so much less than the rarest token

export function unigram(parts: ModelParts, vocab: Scored): Model['tokenize'] {
  if (vocab.length === 0) throw malformed('Unigram: vocab is empty');
  if (parts.unknown !== undefined && parts.unknown >= vocab.length) {
    throw malformed(`Unigram: unk_id ${parts.unknown} is beyond the vocab of ${vocab.length} tokens`);
  }
  const bytesOf = byteFallback(parts);
  const scores = vocab.map(([, score]) => asCrateReads(score));
  const least = scores.reduce((low, score) => Math.min(low, score), Number.POSITIVE_INFINITY);
  const search: Search = { parts, scores, unknownScore: least - unknownPenalty, trie: trieOf(vocab) };
  return (word) =>
    bestPath(search, word).flatMap(({ from, to }) => {
      const value = word.slice(from, to);
      const bytes = parts.ids.has(value) ? undefined : bytesOf(value);
      if (bytes !== undefined) return bytes.map((id) => ({ id, from, to }));
      return [{ id: idOrUnknown(parts, value), from, to, value }];
    });
}

/** The tokens' characters, letter by letter; `ends`: a token is complete here. */
interface Trie {
  next: Map<string, Trie>;
  ends: boolean;
}

interface Search {
  readonly parts: ModelParts;
  readonly scores: readonly number[];
  readonly unknownScore: number;
  readonly trie: Trie;
}

function trieOf(vocab: Scored): Trie {
  const root: Trie = { next: new Map(), ends: false };
  for (const [token] of vocab) {
    let node = root;
    for (const character of token) {
      const child = node.next.get(character) ?? { next: new Map(), ends: false };
      node.next.set(character, child);
      node = child;
    }
    node.ends = true;
  }
  return root;
}

/**
 * The crate reads a decimal's digits as one integer and divides, which can miss the nearest double by one. Where two ways to
 * cut a word have the same tokens in another order, that decides which sum is the greater.
 */
function asCrateReads(score: number): number {
  const [whole = '', fraction = ''] = String(score).split('.');
  return /e/.test(fraction) ? score : Number(whole + fraction) / Number(`1e${fraction.length}`);
}

/** Viterbi: of all ways to cut the word, the one with the highest sum of scores; unknown characters side by side are one. */
function bestPath(search: Search, word: string): { from: number; to: number }[] {
  const best = Array.from({ length: word.length + 1 }, () => ({ from: -1, score: 0, unknown: false }));
  const start = { from: -1, score: 0, unknown: false };
  const at = (place: number) => best[place] ?? start;
  const reach = (from: number, to: number, score: number, unknown: boolean) => {
    const end = best[to];
    if (end !== undefined && (end.from < 0 || score > end.score)) Object.assign(end, { from, score, unknown });
  };
  for (let from = 0; from < word.length; ) {
    const next = from + ((word.codePointAt(from) ?? 0) > 0xffff ? 2 : 1);
    const { score } = at(from);
    const ends = endsOfTokens(search.trie, word, from);
    for (const to of ends) {
      const id = search.parts.ids.get(word.slice(from, to)) ?? -1;
      reach(from, to, (search.scores[id] ?? search.unknownScore) + score, id === search.parts.unknown);
    }
    if (!ends.includes(next)) reach(from, next, search.unknownScore + score, true);
    from = next;
  }
  const path: { from: number; to: number }[] = [];
  for (let to = word.length, after = false; to > 0; ) {
    const { from, unknown } = at(to);
    const last = path.at(-1);
    if (unknown && after && last !== undefined) last.from = from;
    else path.push({ from, to });
    after = unknown;
    to = from;
  }
  return path.reverse();
}

function endsOfTokens(trie: Trie, word: string, from: number): number[] {
  const ends: number[] = [];
  let node: Trie | undefined = trie;
  for (let at = from; at < word.length; ) {
    const character = String.fromCodePoint(word.codePointAt(at) ?? 0);
    node = node.next.get(character);
    if (node === undefined) break;
    at += character.length;
    if (node.ends) ends.push(at);
  }
  return ends;
}
