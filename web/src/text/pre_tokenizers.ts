// tokenizer.json's `pre_tokenizer`: how a normalized text is cut into the words that the model sees one by one.

import { SplitPreTokenizer } from '@huggingface/tokenizers';
import type { AlignedText } from './aligned_text.js';
import { spellBytes } from './byte_level.js';
import { type Step, unknownStep } from './normalizers.js';

export type PreTokenize = (piece: AlignedText) => AlignedText[];

/** What becomes of the delimiters at which a text is split. */
type Behavior = 'Removed' | 'Isolated' | 'MergedWithPrevious' | 'MergedWithNext' | 'Contiguous';

const whitespace = /\p{White_Space}/gu;
// By Unicode 8's table, which the crate has: two characters are no longer punctuation.
const punctuation = /[\p{P}$+<=>^`|~\u166d\u{111c9}]/gu;
const wordOrSigns =
  /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{White_Space}]+/gu;
const gpt2Words =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const character = /[\s\S]/gu;

/** The pre-tokenizer of a tokenizer.json; throws `unsupported` for one of an unknown type. */
export function preTokenizerOf(step: Step | null | undefined): PreTokenize {
  if (step === null || step === undefined) return (piece) => [piece];
  const make = makers[step.type];
  if (make !== undefined) return make(step);
  throw unknownStep('pre-tokenizer', step.type);
}

/** Whether words depend on where in the original they stand. */
export function needsSpans(step: Step | null | undefined): boolean {
  if (step?.type === 'Sequence') return (step.pretokenizers as Step[]).some(needsSpans);
  return step?.prepend_scheme === 'first';
}

const makers: Readonly<Record<string, (step: Step) => PreTokenize>> = {
  Sequence: ({ pretokenizers }) => chain(...(pretokenizers as Step[]).map(preTokenizerOf)),
  BertPreTokenizer: () => chain(splitter(whitespace, 'Removed'), splitter(punctuation, 'Isolated')),
  Whitespace: () => splitter(wordOrSigns, 'Removed', true),
  WhitespaceSplit: () => splitter(whitespace, 'Removed'),
  Punctuation: ({ behavior = 'Isolated' }) => splitter(punctuation, behavior as Behavior),
  Digits: ({ individual_digits }) => splitter(/\p{N}/gu, individual_digits ? 'Isolated' : 'Contiguous'),
  Split: ({ pattern, behavior, invert }) => splitter(compiled(pattern), behavior as Behavior, Boolean(invert)),
  CharDelimiterSplit: ({ delimiter }) => splitter(compiled({ String: delimiter }), 'Removed'),
  FixedLength:
    ({ length }) =>
    (piece) =>
      cut(piece, runs(piece.text, length as number)),
  ByteLevel: byteLevel,
  Metaspace: metaspace,
};

function chain(...steps: readonly PreTokenize[]): PreTokenize {
  return (piece) => steps.reduce((pieces, step) => pieces.flatMap(step), [piece]);
}

function compiled(pattern: unknown): RegExp {
  const split = new SplitPreTokenizer({ type: 'Split', pattern: pattern as never, behavior: 'Isolated', invert: true });
  return split.pattern ?? /(?!)/gu;
}

/** `invert`: the matches are what stays, and what lies between them are the delimiters. */
function splitter(pattern: RegExp, behavior: Behavior, invert = false): PreTokenize {
  const name = `${behavior[0]?.toUpperCase()}${behavior.slice(1)}` as Behavior;
  return (piece) => cut(piece, join(matches(piece.text, pattern, invert), name));
}

/** A part of a text, [from, to), and whether it is a delimiter. */
interface Part {
  from: number;
  to: number;
  delimiter: boolean;
}

function matches(text: string, pattern: RegExp, invert: boolean): Part[] {
  const parts: Part[] = [];
  let last = 0;
  for (const { 0: match, index } of text.matchAll(pattern)) {
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

/** Runs of `length` characters; the last one may be shorter. */
function runs(text: string, length: number): { from: number; to: number }[] {
  const ends = Array.from(text.matchAll(character), ({ 0: match, index }) => index + match.length);
  const count = Math.ceil(ends.length / length);
  return Array.from({ length: count }, (_, i) => ({
    from: i === 0 ? 0 : (ends[i * length - 1] as number),
    to: ends[Math.min((i + 1) * length, ends.length) - 1] as number,
  }));
}

function byteLevel({ add_prefix_space, use_regex = true }: Step): PreTokenize {
  const split = splitter(gpt2Words, 'Isolated');
  return (piece) => {
    const prefixed = add_prefix_space && !piece.text.startsWith(' ') ? piece.prepend(' ') : piece;
    const words = use_regex ? split(prefixed) : [prefixed];
    return words.map(spellBytes);
  };
}

function metaspace({ replacement = '▁', prepend_scheme, add_prefix_space, split = true }: Step): PreTokenize {
  const mark = replacement as string;
  const scheme = add_prefix_space === false ? 'never' : (prepend_scheme ?? 'always');
  const splitAtMarks = splitter(compiled({ String: mark }), 'MergedWithNext');
  return (piece) => {
    const marked = piece.replace(/ /g, () => mark);
    const prepends = scheme === 'always' || (scheme === 'first' && marked.spanOf(0, 1)[0] === 0);
    const whole = prepends && !marked.text.startsWith(mark) ? marked.prepend(mark) : marked;
    return split ? splitAtMarks(whole) : [whole];
  };
}
