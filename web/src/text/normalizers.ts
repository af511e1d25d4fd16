// tokenizer.json's `normalizer`: changes a text before it is split, keeping the characters' alignment.

import type { Steps } from '../support/steps.js';
import { type AlignedText, inSegments } from './aligned_text.js';
import { spellBytes } from './byte_level.js';
import { classOf } from './code_points.js';
import { patternOf } from './patterns.js';
import { asStep, flagOf, type Step, stepsOf, textOf, unknownStep } from './step.js';
import { needed, onDemand, whiteSpace } from './unicode.js';

export type Normalize = (text: AlignedText) => Steps<AlignedText>;

const nothing = () => '';
const space = () => ' ';
const withTables = (step: Step) => onDemand().unicodeNormalizer(step);

/** The normalizer of a tokenizer.json; throws `unsupported` for an unknown type. */
export function normalizerOf(held: unknown): Normalize {
  if (held === null || held === undefined) return chain([]);
  const step = asStep(held, 'normalizer');
  const make = makers[step.type];
  if (make !== undefined) return make(step);
  throw unknownStep('normalizer', step.type);
}

const makers: Readonly<Record<string, (step: Step) => Normalize>> = {
  Sequence: (step) => chain(stepsOf(step, 'normalizers').map(normalizerOf)),
  BertNormalizer: withTables,
  NFC: withTables,
  NFD: withTables,
  NFKC: withTables,
  NFKD: withTables,
  Lowercase: withTables,
  StripAccents: withTables,
  ByteLevel: () => characterwise(spellBytes),
  Strip: strip,
  Replace: (step) => {
    const pattern = patternOf(step.pattern);
    const content = textOf(step, 'content');
    return (text) => text.replaced(pattern, () => content);
  },
  Prepend: (step) => {
    const start = textOf(step, 'prepend');
    return atAStroke((text) => text.prepend(start));
  },
  Precompiled: (step) => needed('pieces').precompiled(textOf(step, 'precompiled_charsmap')),
  Nmt: () =>
    characterwise((text) =>
      text
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed
        .replace(/[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]/g, nothing)
        .replace(/[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]/g, space),
    ),
};

export function chain(steps: readonly Normalize[]): Normalize {
  return function* (text) {
    let done = text;
    for (const normalize of steps) done = yield* normalize(done);
    return done;
  };
}

type Change = (text: AlignedText) => AlignedText;

/** What takes no time to speak of. */
function atAStroke(change: Change): Normalize {
  // biome-ignore lint/correctness/useYield: it is one step
  return function* (text) {
    return change(text);
  };
}

/** What is done to each character, whatever stands beside it. */
export function characterwise(change: Change): Normalize {
  return (text) => inSegments(text, change);
}

function strip(step: Step): Normalize {
  const space = new RegExp(classOf(whiteSpace), 'u');
  const [left, right] = [flagOf(step, 'strip_left', true), flagOf(step, 'strip_right', true)];
  return atAStroke((given) => {
    const { text } = given;
    let [from, to] = [0, text.length];
    while (left && from < to && space.test(text.charAt(from))) from++;
    while (right && from < to && space.test(text.charAt(to - 1))) to--;
    return given.slice(from, to);
  });
}
