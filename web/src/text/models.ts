// tokenizer.json's `model`: maps a word to its tokens, each with its part of the word.

import { shownValue } from '../checkpoint/file_rules.js';
import { isObject } from '../support/kinds.js';
import { atOnce, type Steps } from '../support/steps.js';
import { bytePairEncoding } from './byte_pair_encoding.js';
import {
  idOrUnknown,
  longestToken,
  type Model,
  type ModelParts,
  prefixOf,
  type Scored,
  tooLongToken,
  type WordPart,
  type WordParts,
} from './model_parts.js';
import { countOf, idOf, idReader, malformed, type Step, textOf, unknownStep } from './step.js';
import { needed } from './unicode.js';

/** The model of a tokenizer.json. Throws `unsupported` for an unknown type, `malformed_config` for an invalid one. */
export function modelOf(held: unknown): Model {
  if (!isObject(held)) throw malformed('it has no model');
  const { vocab, unk_id } = held;
  const scored = Array.isArray(vocab) ? scoresOf(vocab) : undefined;
  const ids = new Map(scored?.map(([token], id) => [token, id]) ?? idsOf(vocab));
  const step: Step = { ...held, type: typeof held.type === 'string' ? held.type : guessed(held) };
  const unknown =
    unk_id !== undefined && unk_id !== null ? idOf(unk_id, 'unk_id') : ids.get(textOf(step, 'unk_token', ''));
  const parts: ModelParts = { step, ids, unknown };
  if (step.type === 'BPE') return { kind: 'BPE', ids, prefix: prefixOf(step), tokenize: bytePairEncoding(parts) };
  if (step.type === 'WordPiece') return { kind: 'WordPiece', ids, prefix: prefixOf(step), tokenize: wordPiece(parts) };
  if (step.type === 'WordLevel') return { kind: 'WordLevel', ids, tokenize: (word) => [wholeWord(parts, word)] };
  if (step.type !== 'Unigram') throw unknownStep('model', step.type);
  if (scored === undefined) throw malformed('Unigram: vocab must be a list of tokens and scores');
  const list = scored.map(([token]) => token);
  return { kind: 'Unigram', ids, list, tokenize: needed('pieces').unigram(parts, scored) };
}

/** Whether a model's vocabulary has scores, as Unigram's. */
export const hasScores = (model: unknown): boolean => isObject(model) && Array.isArray(model.vocab);

function idsOf(vocab: unknown): (readonly [string, number])[] {
  if (!isObject(vocab)) throw malformed(`the model's vocab must be an object or a list, and is ${shownValue(vocab)}`);
  const idFrom = idReader('vocab');
  return Object.entries(vocab).map(([token, id]) => [token, idFrom(id, token)]);
}

function scoresOf(vocab: readonly unknown[]): Scored {
  return vocab.map((entry, id) => {
    const [token, score]: unknown[] = Array.isArray(entry) ? entry : [];
    if (typeof token === 'string' && Number.isFinite(score)) return [token, score as number];
    throw malformed(`entry ${id} of vocab must be a token and its score, a finite number, and is ${shownValue(entry)}`);
  });
}

// Older files lack the type, which is inferred.
function guessed({ vocab, merges, continuing_subword_prefix }: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(vocab)) return 'Unigram';
  if (merges !== undefined) return 'BPE';
  return continuing_subword_prefix === undefined ? 'WordLevel' : 'WordPiece';
}

function wholeWord(parts: ModelParts, word: string): WordPart {
  return { id: idOrUnknown(parts, word), from: 0, to: word.length };
}

const manyCharacters = 256; // of a word: it is cut in steps

/** Greedy longest match from the start of the rest; a word that cannot be covered is unknown as a whole. */
function wordPiece(parts: ModelParts): Model['tokenize'] {
  const { step, ids } = parts;
  const prefix = prefixOf(step);
  const limit = countOf(step, 'max_input_chars_per_word', 0, 100);
  const longest = Array.from(ids.keys()).reduce((most, token) => Math.max(most, token.length), 0);
  const unknown = (word: string) => [
    { id: idOrUnknown(parts, textOf(step, 'unk_token', '[UNK]')), from: 0, to: word.length },
  ];
  if (longest > longestToken) throw tooLongToken(step.type, longest);
  function* cut(word: string): Steps<WordParts> {
    const found: WordPart[] = [];
    for (let from = 0; from < word.length; yield) {
      let to = Math.min(word.length, from + longest);
      let id: number | undefined;
      for (; to > from; to--) {
        id = ids.get((from > 0 ? prefix : '') + word.slice(from, to));
        if (id !== undefined) break;
      }
      if (id === undefined) return unknown(word);
      found.push({ id, from, to });
      from = to;
    }
    return found;
  }
  return (word) => {
    const tooLong = word.length > 2 * limit || (word.length > limit && Array.from(word).length > limit);
    if (tooLong) return unknown(word);
    return word.length > manyCharacters ? cut(word) : atOnce(cut(word));
  };
}
