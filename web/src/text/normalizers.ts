// tokenizer.json's `normalizer`: changes a text before it is split, keeping the characters' alignment.

import type { AlignedText } from './aligned_text.js';
import { spellBytes } from './byte_level.js';
import { type CodePoints, classOf } from './code_points.js';
import { patternOf } from './patterns.js';
import { precompiled } from './precompiled.js';
import { asStep, flagOf, type Step, stepsOf, textOf, unknownStep } from './step.js';
import { accents, capitals, combiningMarks, controls, patternWith, smallLetter, whiteSpace } from './unicode.js';
import { type Form, unicodeForm } from './unicode_form.js';

export type Normalize = (text: AlignedText) => AlignedText;

const nothing = () => '';
const space = () => ' ';
const cjk: CodePoints = [
  0x3400, 0x4dbf, 0x4e00, 0x9fff, 0xf900, 0xfaff, 0x20000, 0x2a6df, 0x2a700, 0x2b73f, 0x2b740, 0x2b81f, 0x2b920,
  0x2ceaf, 0x2f800, 0x2fa1f,
];

/** The normalizer of a tokenizer.json; throws `unsupported` for an unknown type. */
export function normalizerOf(held: unknown): Normalize {
  if (held === null || held === undefined) return (text) => text;
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
  ByteLevel: () => spellBytes,
  StripAccents: () => leavingOut(combiningMarks()),
  Strip: strip,
  Replace: (step) => {
    const pattern = patternOf(step.pattern);
    const content = textOf(step, 'content');
    return (text) => text.replace(pattern, () => content);
  },
  Prepend: (step) => {
    const start = textOf(step, 'prepend');
    return (text) => text.prepend(start);
  },
  Precompiled: (step) => precompiled(textOf(step, 'precompiled_charsmap')),
  Nmt: () => (text) =>
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed
      .replace(/[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]/g, nothing)
      .replace(/[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]/g, space),
};

function chain(steps: readonly Normalize[]): Normalize {
  return (text) => steps.reduce((done, normalize) => normalize(done), text);
}

function form({ type }: Step): Normalize {
  return unicodeForm(type as Form);
}

function leavingOut(set: CodePoints): Normalize {
  const pattern = patternWith(set);
  return (text) => text.replace(pattern, nothing);
}

function lowercasing(): Normalize {
  const letters = patternWith(capitals());
  return (text) => text.replace(letters, smallLetter);
}

function strip(step: Step): Normalize {
  const space = new RegExp(classOf(whiteSpace), 'u');
  const [left, right] = [flagOf(step, 'strip_left', true), flagOf(step, 'strip_right', true)];
  return (given) => {
    const { text } = given;
    let [from, to] = [0, text.length];
    while (left && from < to && space.test(text.charAt(from))) from++;
    while (right && from < to && space.test(text.charAt(to - 1))) to--;
    return given.slice(from, to);
  };
}

function bert(step: Step): Normalize {
  const lower = flagOf(step, 'lowercase', true);
  const steps: Normalize[] = [];
  if (flagOf(step, 'clean_text', true)) steps.push(cleaning());
  if (flagOf(step, 'handle_chinese_chars', true)) {
    const chinese = patternWith(cjk);
    steps.push((text) => text.replace(chinese, (character) => ` ${character} `));
  }
  if (flagOf(step, 'strip_accents', lower)) steps.push(unicodeForm('NFD'), leavingOut(accents()));
  if (lower) steps.push(lowercasing());
  return chain(steps);
}

function cleaning(): Normalize {
  const spaces = patternWith(whiteSpace);
  const removed = leavingOut(controls());
  return (text) => removed(text).replace(spaces, space);
}
