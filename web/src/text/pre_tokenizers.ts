// tokenizer.json's `pre_tokenizer`: splits a normalized text into the words that the model processes separately.

import { isObject } from '../support/kinds.js';
import { type AlignedText, inSegments } from './aligned_text.js';
import { gpt2Words, spellBytes } from './byte_level.js';
import type { Pattern } from './pattern.js';
import { literalPattern, patternOf } from './patterns.js';
import { asStep, characterOf, countOf, flagOf, mustBe, type Step, stepsOf, textOf, unknownStep } from './step.js';
import { once, onDemand, patternWith, whiteSpace } from './unicode.js';

/** The words one by one; in between, where it takes long, undefined. */
export type PreTokenize = (piece: AlignedText) => Iterable<AlignedText | undefined>;

/** What happens to the delimiters at which a text is split. */
const behaviors = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'] as const;
type Behavior = (typeof behaviors)[number];

const longWord = 2 ** 14; // code units that are spelled at a time
const spaces = once(() => patternWith(whiteSpace));
const marks = once(() => patternWith(onDemand().punctuation()));
const words = once(() => {
  const { neitherNorSpace, wordCharacters } = onDemand();
  return patternWith(wordCharacters(), '+|', neitherNorSpace(wordCharacters()), '+');
});
const gpt2 = once(() => patternOf({ Regex: gpt2Words }));

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
  Sequence: (step) => chain(stepsOf(step, 'pretokenizers').map(preTokenizerOf)),
  BertPreTokenizer: () => chain([splitter(spaces(), 'Removed'), splitter(marks(), 'Isolated')]),
  Whitespace: () => splitter(words(), 'Removed', true),
  WhitespaceSplit: () => splitter(spaces(), 'Removed'),
  Punctuation: (step) => splitter(marks(), behaviorOf(step, 'Isolated')),
  Digits: (step) =>
    splitter(patternWith(onDemand().numeric()), flagOf(step, 'individual_digits', false) ? 'Isolated' : 'Contiguous'),
  Split: (step) => splitter(patternOf(step.pattern), behaviorOf(step), flagOf(step, 'invert', false)),
  CharDelimiterSplit: (step) => splitter(literalPattern(characterOf(step, 'delimiter')), 'Removed'),
  FixedLength: (step) => {
    return fixedLength(countOf(step, 'length', 1, 5));
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

function chain(steps: readonly PreTokenize[]): PreTokenize {
  const [first, ...others] = steps;
  if (first === undefined) return (piece) => [piece];
  if (others.length === 0) return first;
  const rest = chain(others);
  return function* (piece) {
    for (const part of first(piece)) {
      if (part === undefined) yield;
      else yield* rest(part);
    }
  };
}

/** `invert`: the matches are kept, and the text between them is the delimiters. */
function splitter(pattern: Pattern, behavior: Behavior, invert = false): PreTokenize {
  return function* (piece) {
    const { text } = piece;
    const parts = new Parts(piece, behavior);
    let last = 0;
    for (const found of pattern[Symbol.matchAll](text)) {
      if (found === undefined) {
        yield;
        continue;
      }
      const { 0: match, index } = found;
      const between = last < index ? parts.next(last, index, invert) : undefined;
      if (between !== undefined) yield between;
      last = index + match.length;
      const matched = parts.next(index, last, !invert);
      if (matched !== undefined) yield matched;
    }
    const between = last < text.length ? parts.next(last, text.length, invert) : undefined;
    if (between !== undefined) yield between;
    if (parts.held !== undefined) yield parts.held;
  };
}

/** The parts of a text, delimiters and others in turn, on their way to being joined. */
class Parts {
  readonly #piece: AlignedText;
  readonly #behavior: Behavior;
  #from = -1;
  #to = 0;
  #delimiter = false;

  constructor(piece: AlignedText, behavior: Behavior) {
    this.#piece = piece;
    this.#behavior = behavior;
  }

  /** What the next part may still be joined to. */
  get held(): AlignedText | undefined {
    return this.#from < 0 ? undefined : this.#piece.slice(this.#from, this.#to);
  }

  /** Takes the next part; returns one that is complete. An empty match separates the parts beside it. */
  next(from: number, to: number, delimiter: boolean): AlignedText | undefined {
    const behavior = this.#behavior;
    if (behavior === 'Removed' && delimiter) return undefined;
    if (behavior === 'Removed' || behavior === 'Isolated') return this.#piece.slice(from, to);
    const before = this.#delimiter;
    const joins =
      behavior === 'Contiguous'
        ? delimiter === before
        : delimiter !== before && delimiter === (behavior === 'MergedWithPrevious');
    const done = joins ? undefined : this.held;
    if (!joins || this.#from < 0) this.#from = from;
    this.#to = to;
    this.#delimiter = delimiter;
    return done;
  }
}

/** Chunks of `length` characters; the last one may be shorter. */
function fixedLength(length: number): PreTokenize {
  return function* (piece) {
    let [from, to, count] = [0, 0, 0];
    for (const one of piece.text) {
      to += one.length;
      if (++count % length > 0) continue;
      yield piece.slice(from, to);
      from = to;
    }
    if (from < to) yield piece.slice(from, to);
  };
}

function byteLevel(step: Step): PreTokenize {
  const prefixes = flagOf(step, 'add_prefix_space', true);
  const split = flagOf(step, 'use_regex', true) ? splitter(gpt2(), 'Isolated') : undefined;
  return function* (piece) {
    const prefixed = prefixes && !piece.text.startsWith(' ') ? piece.prepend(' ') : piece;
    for (const word of split?.(prefixed) ?? [prefixed]) {
      if (word === undefined || word.text.length > longWord) yield word && (yield* inSegments(word, spellBytes));
      else yield spellBytes(word);
    }
  };
}

function metaspace(step: Step): PreTokenize {
  const mark = characterOf(step, 'replacement', '▁');
  const scheme = flagOf(step, 'add_prefix_space', true) ? textOf(step, 'prepend_scheme', 'always') : 'never';
  const schemes = ['always', 'first', 'never'];
  if (!schemes.includes(scheme)) throw mustBe(step, 'prepend_scheme', `one of ${schemes.join(', ')}`);
  const split = flagOf(step, 'split', true) ? splitter(literalPattern(mark), 'MergedWithNext') : undefined;
  return function* (piece) {
    const marked = yield* inSegments(piece, (part) => part.replace(/ /g, () => mark));
    const prepends = scheme === 'always' || (scheme === 'first' && marked.spanOf(0, 1)[0] === 0);
    const whole = prepends && !marked.text.startsWith(mark) ? marked.prepend(mark) : marked;
    yield* split?.(whole) ?? [whole];
  };
}
