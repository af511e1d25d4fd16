// Token classes to entities, as in transformers' pipeline: tokens are joined to words, adjacent words of one kind to
// groups.
//   none: every token separately;  simple: adjacent tokens of one kind form a group;
//   first, average, max: a word's class is that of its first token, of its mean scores, of its token with the highest
//   score.
// "B-" begins a new group, "I-" or no prefix continues one of the same kind.

import { argmax } from './scores.js';

/** How tokens are aggregated to entities, and which of a word's tokens determines the class. */
export type AggregationStrategy = 'none' | 'simple' | 'first' | 'average' | 'max';

/** A token of a text with the probabilities of its classes. */
export interface ScoredToken {
  /** The token, as in the vocabulary. */
  word: string;
  scores: readonly number[];
  /** Position in the row of tokens. */
  index: number;
  /** [start, end) in the text. */
  start: number;
  end: number;
  /** Whether it continues the word of the previous token. */
  is_subword: boolean;
}

/** A token, or a word, with its class. */
export interface TokenEntity {
  entity: string;
  score: number;
  index: number;
  word: string;
  /** [start, end) in the text, in UTF-16 code units as for `text.slice`. */
  start: number;
  end: number;
}

/** Adjacent tokens of one kind. */
export interface EntityGroup {
  entity_group: string;
  score: number;
  word: string;
  /** [start, end) in the text, in UTF-16 code units as for `text.slice`. */
  start: number;
  end: number;
}

/** Converts ids to labels, and tokens to text. */
export interface Spelling {
  label(id: number): string;
  /** Tokens as text. */
  text(tokens: readonly string[]): string;
}

type Word = Omit<TokenEntity, 'index'>;

/** Every token with its most probable class. */
export function tokenEntities(tokens: readonly ScoredToken[], spelling: Spelling): TokenEntity[] {
  return tokens.map(({ word, scores, index, start, end }) => {
    const best = argmax(scores);
    return { entity: spelling.label(best), score: scores[best] as number, index, word, start, end };
  });
}

/** Groups of adjacent tokens of one kind. */
export function entityGroups(
  tokens: readonly ScoredToken[],
  strategy: Exclude<AggregationStrategy, 'none'>,
  spelling: Spelling,
): EntityGroup[] {
  const entities = strategy === 'simple' ? tokenEntities(tokens, spelling) : words(tokens, strategy, spelling);
  const groups: Word[][] = [];
  for (const entity of entities) {
    const open = groups.at(-1);
    const last = open?.at(-1);
    const continues = last !== undefined && kindOf(last.entity) === kindOf(entity.entity) && !begins(entity.entity);
    if (open !== undefined && continues) open.push(entity);
    else groups.push([entity]);
  }
  return groups.map((group) => grouped(group, spelling));
}

function begins(label: string): boolean {
  return label.startsWith('B-');
}

function kindOf(label: string): string {
  return /^[BI]-/.test(label) ? label.slice(2) : label;
}

function grouped(group: readonly Word[], spelling: Spelling): EntityGroup {
  const [first, last] = [group[0], group.at(-1)] as [Word, Word];
  return {
    entity_group: first.entity.slice(first.entity.indexOf('-') + 1),
    score: group.reduce((sum, { score }) => sum + score, 0) / group.length,
    word: spelling.text(group.map(({ word }) => word)),
    start: first.start,
    end: last.end,
  };
}

function words(tokens: readonly ScoredToken[], strategy: AggregationStrategy, spelling: Spelling): Word[] {
  const parts: ScoredToken[][] = [];
  for (const token of tokens) {
    const open = parts.at(-1);
    if (open !== undefined && token.is_subword) open.push(token);
    else parts.push([token]);
  }
  return parts.map((part) => {
    const scores = wordScores(part, strategy);
    const best = argmax(scores);
    const [first, last] = [part[0], part.at(-1)] as [ScoredToken, ScoredToken];
    const word = spelling.text(part.map((token) => token.word));
    return { entity: spelling.label(best), score: scores[best] as number, word, start: first.start, end: last.end };
  });
}

function wordScores(part: readonly ScoredToken[], strategy: AggregationStrategy): readonly number[] {
  const all = part.map(({ scores }) => scores);
  const [first] = all as [readonly number[]];
  if (strategy === 'first') return first;
  if (strategy === 'average')
    return first.map((_, c) => all.reduce((sum, s) => sum + (s[c] as number), 0) / all.length);
  return all[argmax(all.map((scores) => Math.max(...scores)))] as readonly number[];
}

/** Of groups that overlap because windows do, keeps that of most characters, then the one with the highest score. */
export function withoutOverlaps(groups: readonly EntityGroup[], text: string): EntityGroup[] {
  const lengthOf = ({ start, end }: EntityGroup) => [...text.slice(start, end)].length;
  const kept: EntityGroup[] = [];
  for (const group of [...groups].sort((a, b) => a.start - b.start)) {
    const last = kept.at(-1);
    if (last === undefined || group.start >= last.end) {
      kept.push(group);
      continue;
    }
    const longer = lengthOf(group) - lengthOf(last);
    if (longer > 0 || (longer === 0 && group.score > last.score)) kept[kept.length - 1] = group;
  }
  return kept;
}
