// tokenizer.json's `model`: from one word to its tokens, each with the part of the word it stands for.

import { BPE } from '@huggingface/tokenizers';
import { ClearformerError } from '../support/error.js';
import { unknownStep } from './normalizers.js';

/** A token of a word: its id and the UTF-16 code units [from, to) of the word. */
export interface WordPart {
  id: number;
  from: number;
  to: number;
  /** What it reads, where that is not the vocabulary's spelling. */
  value?: string;
}

/** tokenizer.json's `model`. Older files lack its type. */
export interface ModelJson {
  type?: string | null;
  vocab: Readonly<Record<string, number>> | readonly (readonly [string, number])[];
  merges?: unknown[];
  unk_token?: string | null;
  unk_id?: number | null;
  continuing_subword_prefix?: string | null;
  end_of_word_suffix?: string | null;
  max_input_chars_per_word?: number;
  fuse_unk?: boolean;
  byte_fallback?: boolean;
  ignore_merges?: boolean;
}

/** A vocabulary and how it cuts words. */
export interface Model {
  readonly kind: 'BPE' | 'WordPiece' | 'Unigram' | 'WordLevel';
  readonly ids: ReadonlyMap<string, number>;
  tokenize(word: string): readonly WordPart[];
}

const utf8 = new TextEncoder();

/** The model of a tokenizer.json. Throws `unsupported` for one of an unknown type. */
export function modelOf(json: ModelJson): Model {
  const { vocab } = json;
  const entries = isScored(vocab) ? vocab.map(([token], id) => [token, id] as const) : Object.entries(vocab);
  const ids = new Map(entries);
  const unknown = json.unk_id ?? ids.get(json.unk_token ?? '');
  const kind = json.type ?? guessed(json);
  const parts: ModelParts = { json, ids, unknown };
  if (kind === 'BPE') return { kind, ids, tokenize: mergePairs(parts) };
  if (kind === 'WordPiece') return { kind, ids, tokenize: (word) => longestPieces(parts, word) };
  if (kind === 'Unigram' && isScored(vocab)) return { kind, ids, tokenize: unigram(parts, vocab) };
  if (kind !== 'WordLevel') throw unknownStep('model', kind);
  return { kind, ids, tokenize: (word) => [{ id: idOrUnknown(parts, word), from: 0, to: word.length }] };
}

interface ModelParts {
  readonly json: ModelJson;
  readonly ids: ReadonlyMap<string, number>;
  readonly unknown: number | undefined;
}
type Scored = readonly (readonly [string, number])[];

function isScored(vocab: ModelJson['vocab']): vocab is Scored {
  return Array.isArray(vocab);
}

function guessed({ vocab, merges, continuing_subword_prefix }: ModelJson): string {
  if (isScored(vocab)) return 'Unigram';
  if (merges !== undefined) return 'BPE';
  return continuing_subword_prefix === undefined ? 'WordLevel' : 'WordPiece';
}

function idOrUnknown({ ids, unknown }: ModelParts, token: string): number {
  const id = ids.get(token) ?? unknown;
  if (id !== undefined) return id;
  throw new ClearformerError(
    'invalid_argument',
    'tokenizer: the text has a part no token stands for, and there is no unknown token',
  );
}

/** The tokens <0x00> … <0xFF> of a text's bytes, where they are asked for and the vocabulary has them all. */
function byteIds({ json, ids }: ModelParts, text: string): number[] | undefined {
  if (!json.byte_fallback) return undefined;
  const names = Array.from(utf8.encode(text), (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const found = names.map((name) => ids.get(name));
  return found.includes(undefined) ? undefined : (found as number[]);
}

function mergePairs(parts: ModelParts): Model['tokenize'] {
  const { json, ids, unknown } = parts;
  if (json.continuing_subword_prefix) throw unknownStep('model', 'BPE with continuing_subword_prefix');
  const library = new BPE({ ...json, type: 'BPE', vocab: {} } as never);
  const suffix = json.end_of_word_suffix ?? '';
  return (word) => {
    const whole = json.ignore_merges ? ids.get(word) : undefined;
    if (whole !== undefined) return [{ id: whole, from: 0, to: word.length }];
    const found: WordPart[] = [];
    let from = 0;
    let before: WordPart | undefined; // the unknown part that ends here, which the next may fuse with
    const pieces = library.bpe(word);
    for (const [i, piece] of pieces.entries()) {
      const to = from + piece.length - (i === pieces.length - 1 ? suffix.length : 0);
      const id = ids.get(piece);
      const bytes = id === undefined ? byteIds(parts, piece) : undefined;
      if (id === undefined && bytes === undefined) {
        if (unknown === undefined) continue; // as in the crate: what no token stands for is left out
        if (before !== undefined && json.fuse_unk) found.pop();
        before = { id: unknown, from: before !== undefined && json.fuse_unk ? before.from : from, to };
        found.push(before);
      } else {
        before = undefined;
        found.push(...(bytes ?? [id as number]).map((each) => ({ id: each, from, to })));
      }
      from = to;
    }
    return found;
  };
}

function longestPieces(parts: ModelParts, word: string): WordPart[] {
  const { continuing_subword_prefix: prefix = '##', unk_token, max_input_chars_per_word: limit = 100 } = parts.json;
  const unknown = () => [{ id: idOrUnknown(parts, unk_token ?? ''), from: 0, to: word.length }];
  if (Array.from(word).length > limit) return unknown();
  const found: WordPart[] = [];
  for (let from = 0; from < word.length; ) {
    let to = word.length;
    let id: number | undefined;
    for (; to > from; to--) {
      id = parts.ids.get((from > 0 ? prefix : '') + word.slice(from, to));
      if (id !== undefined) break;
    }
    if (id === undefined) return unknown();
    found.push({ id, from, to });
    from = to;
  }
  return found;
}

const unknownPenalty = 10; // SentencePiece's: an unknown character scores so much less than the rarest token

function unigram(parts: ModelParts, vocab: Scored): Model['tokenize'] {
  const scores = vocab.map(([, score]) => asCrateReads(score));
  const least = scores.reduce((low, score) => Math.min(low, score), Number.POSITIVE_INFINITY);
  const search: Search = { parts, scores, unknownScore: least - unknownPenalty, trie: trieOf(vocab) };
  return (word) =>
    bestPath(search, word).flatMap(({ from, to }) => {
      const value = word.slice(from, to);
      const bytes = parts.ids.has(value) ? undefined : byteIds(parts, value);
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
  const at = (place: number) => best[place] as (typeof best)[number];
  const reach = (from: number, to: number, score: number, unknown: boolean) => {
    const end = at(to);
    if (end.from < 0 || score > end.score) Object.assign(end, { from, score, unknown });
  };
  for (let from = 0; from < word.length; ) {
    const next = from + ((word.codePointAt(from) as number) > 0xffff ? 2 : 1);
    const { score } = at(from);
    const ends = endsOfTokens(search.trie, word, from);
    for (const to of ends) {
      const id = search.parts.ids.get(word.slice(from, to)) as number;
      reach(from, to, (search.scores[id] as number) + score, id === search.parts.unknown);
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
    const character = String.fromCodePoint(word.codePointAt(at) as number);
    node = node.next.get(character);
    if (node === undefined) break;
    at += character.length;
    if (node.ends) ends.push(at);
  }
  return ends;
}
