// tokenizer.json's `normalizer`: changes a text before it is split, keeping the characters' alignment.

import type { Steps } from '../support/steps.js';
import { type AlignedText, inSegments } from './aligned_text.js';
import { spellBytes } from './byte_level.js';
import { type CodePoints, classOf } from './code_points.js';
import { patternOf } from './patterns.js';
import { asStep, flagOf, type Step, stepsOf, textOf, unknownStep } from './step.js';
import { needed, onDemand, patternWith, whiteSpace } from './unicode.js';
import type { Form } from './unicode_form.js';

export type Normalize = (text: AlignedText) => Steps<AlignedText>;

const nothing = () => '';
const space = () => ' ';
const cjk: CodePoints = [
  0x3400, 0x4dbf, 0x4e00, 0x9fff, 0xf900, 0xfaff, 0x20000, 0x2a6df, 0x2a700, 0x2b73f, 0x2b740, 0x2b81f, 0x2b920,
  0x2ceaf, 0x2f800, 0x2fa1f,
];

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
  BertNormalizer: bert,
  NFC: form,
  NFD: form,
  NFKC: form,
  NFKD: form,
  Lowercase: lowercasing,
  ByteLevel: () => characterwise(spellBytes),
  StripAccents: () => leavingOut(onDemand().combiningMarks()),
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

function chain(steps: readonly Normalize[]): Normalize {
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
function characterwise(change: Change): Normalize {
  return (text) => inSegments(text, change);
}

function form({ type }: Step): Normalize {
  return onDemand().unicodeForm(type as Form);
}

function leavingOut(set: CodePoints): Normalize {
  const pattern = patternWith(set);
  return characterwise((text) => text.replace(pattern, nothing));
}

function lowercasing(): Normalize {
  const { capitals, smallLetter } = onDemand();
  const letters = patternWith(capitals());
  return characterwise((text) => text.replace(letters, smallLetter));
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

function bert(step: Step): Normalize {
  const lower = flagOf(step, 'lowercase', true);
  const steps: Normalize[] = [];
  if (flagOf(step, 'clean_text', true)) steps.push(leavingOut(onDemand().controls()), spacing());
  if (flagOf(step, 'handle_chinese_chars', true)) {
    const chinese = patternWith(cjk);
    steps.push(characterwise((text) => text.replace(chinese, (character) => ` ${character} `)));
  }
  if (flagOf(step, 'strip_accents', lower)) steps.push(form({ type: 'NFD' }), leavingOut(onDemand().accents()));
  if (lower) steps.push(lowercasing());
  return chain(steps);
}

function spacing(): Normalize {
  const spaces = patternWith(whiteSpace);
  return characterwise((text) => text.replace(spaces, space));
}
