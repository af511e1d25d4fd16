// tokenizer.json's `pre_tokenizer`: splits a normalized text into the words that the model processes separately.

import type { AlignedText } from './aligned_text.js';
import { gpt2Words, spellBytes } from './byte_level.js';
import type { Pattern } from './pattern.js';
import { literalPattern, patternOf } from './patterns.js';
import {
  asStep,
  characterOf,
  countOf,
  flagOf,
  isObject,
  mustBe,
  type Step,
  stepsOf,
  textOf,
  unknownStep,
} from './step.js';
import { neitherNorSpace, numeric, once, patternWith, punctuation, whiteSpace, wordCharacters } from './unicode.js';

export type PreTokenize = (piece: AlignedText) => AlignedText[];

/** What happens to the delimiters at which a text is split. */
const behaviors = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'] as const;
type Behavior = (typeof behaviors)[number];

const spaces = once(() => patternWith(whiteSpace));
const marks = once(() => patternWith(punctuation()));
const words = once(() => patternWith(wordCharacters(), '+|', neitherNorSpace(wordCharacters()), '+'));
const gpt2 = once(() => patternOf({ Regex: gpt2Words }));
const character = /[\s\S]/gu;

/** The pre-tokenizer of a tokenizer.json; throws `unsupported` for an unknown type. */
export function preTokenizerOf(held: unknown): PreTokenize {
  if (held === null || held === undefined) return (piece) => [piece];
  const step = asStep(held, 'pre-tokenizer');
  const make = makers[step.type];
  if (make !== undefined) return make(step);
  throw unknownStep('pre-tokenizer', step.type);
}

/** Whether words depend on their position in the original. */
export function needsSpans(held: unknown): boolean {
  if (!isObject(held)) return false;
  if (Array.isArray(held.pretokenizers)) return held.pretokenizers.some(needsSpans);
  return held.prepend_scheme === 'first';
}

const makers: Readonly<Record<string, (step: Step) => PreTokenize>> = {
  Sequence: (step) => chain(...stepsOf(step, 'pretokenizers').map(preTokenizerOf)),
  BertPreTokenizer: () => chain(splitter(spaces(), 'Removed'), splitter(marks(), 'Isolated')),
  Whitespace: () => splitter(words(), 'Removed', true),
  WhitespaceSplit: () => splitter(spaces(), 'Removed'),
  Punctuation: (step) => splitter(marks(), behaviorOf(step, 'Isolated')),
  Digits: (step) =>
    splitter(patternWith(numeric()), flagOf(step, 'individual_digits', false) ? 'Isolated' : 'Contiguous'),
  Split: (step) => splitter(patternOf(step.pattern), behaviorOf(step), flagOf(step, 'invert', false)),
  CharDelimiterSplit: (step) => splitter(literalPattern(characterOf(step, 'delimiter')), 'Removed'),
  FixedLength: (step) => {
    const length = countOf(step, 'length', 1, 5);
    return (piece) => cut(piece, runs(piece.text, length));
  },
  ByteLevel: byteLevel,
  Metaspace: metaspace,
};

/** transformers also spells behaviors in Python style: `merged_with_previous`. */
function behaviorOf(step: Step, usual?: Behavior): Behavior {
  const given = textOf(step, 'behavior', usual).replaceAll('_', '').toLowerCase();
  const found = behaviors.find((behavior) => behavior.toLowerCase() === given);
  if (found !== undefined) return found;
  throw mustBe(step, 'behavior', `one of ${behaviors.join(', ')}`);
}

function chain(...steps: readonly PreTokenize[]): PreTokenize {
  return (piece) => steps.reduce((pieces, step) => pieces.flatMap(step), [piece]);
}

/** `invert`: the matches are kept, and the text between them is the delimiters. */
function splitter(pattern: Pattern, behavior: Behavior, invert = false): PreTokenize {
  return (piece) => cut(piece, join(matches(piece.text, pattern, invert), behavior));
}

/** A part of a text, [from, to), and whether it is a delimiter. */
interface Part {
  from: number;
  to: number;
  delimiter: boolean;
}

function matches(text: string, pattern: Pattern, invert: boolean): Part[] {
  const parts: Part[] = [];
  let last = 0;
  for (const { 0: match, index } of pattern[Symbol.matchAll](text)) {
    if (last < index) parts.push({ from: last, to: index, delimiter: invert });
    last = index + match.length;
    if (last > index) parts.push({ from: index, to: last, delimiter: !invert });
  }
  if (last < text.length) parts.push({ from: last, to: text.length, delimiter: invert });
  return parts;
}

function join(parts: readonly Part[], behavior: Behavior): readonly Part[] {
  if (behavior === 'Isolated') return parts;
  if (behavior === 'Removed') return parts.filter(({ delimiter }) => !delimiter);
  const joined: Part[] = [];
  let before: boolean | undefined = behavior === 'Contiguous' ? undefined : false;
  for (const part of behavior === 'MergedWithNext' ? [...parts].reverse() : parts) {
    const last = joined.at(-1);
    const joins = behavior === 'Contiguous' ? part.delimiter === before : part.delimiter && before === false;
    before = part.delimiter;
    if (last === undefined || !joins) joined.push({ ...part });
    else if (behavior === 'MergedWithNext') last.from = part.from;
    else last.to = part.to;
  }
  return behavior === 'MergedWithNext' ? joined.reverse() : joined;
}

function cut(piece: AlignedText, parts: readonly { from: number; to: number }[]): AlignedText[] {
  return parts.map(({ from, to }) => piece.slice(from, to));
}

/** Chunks of `length` characters; the last one may be shorter. */
function runs(text: string, length: number): { from: number; to: number }[] {
  const ends = [0, ...Array.from(text.matchAll(character), ({ 0: match, index }) => index + match.length)];
  const cuts = ends.filter((_, i) => i % length === 0 || i === ends.length - 1);
  return cuts.slice(1).map((to, i) => ({ from: cuts[i] ?? 0, to }));
}

function byteLevel(step: Step): PreTokenize {
  const prefixes = flagOf(step, 'add_prefix_space', true);
  const split = flagOf(step, 'use_regex', true) ? splitter(gpt2(), 'Isolated') : undefined;
  return (piece) => {
    const prefixed = prefixes && !piece.text.startsWith(' ') ? piece.prepend(' ') : piece;
    return (split?.(prefixed) ?? [prefixed]).map(spellBytes);
  };
}

function metaspace(step: Step): PreTokenize {
  const mark = characterOf(step, 'replacement', '▁');
  const scheme = flagOf(step, 'add_prefix_space', true) ? textOf(step, 'prepend_scheme', 'always') : 'never';
  const schemes = ['always', 'first', 'never'];
  if (!schemes.includes(scheme)) throw mustBe(step, 'prepend_scheme', `one of ${schemes.join(', ')}`);
  const split = flagOf(step, 'split', true) ? splitter(literalPattern(mark), 'MergedWithNext') : undefined;
  return (piece) => {
    const marked = piece.replace(/ /g, () => mark);
    const prepends = scheme === 'always' || (scheme === 'first' && marked.spanOf(0, 1)[0] === 0);
    const whole = prepends && !marked.text.startsWith(mark) ? marked.prepend(mark) : marked;
    return split?.(whole) ?? [whole];
  };
}
