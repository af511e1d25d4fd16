// The normalizers of tokenizer.json that need Unicode's tables, and are loaded with them.

import type { CodePoints } from './code_points.js';
import { chain, characterwise, type Normalize } from './normalizers.js';
import { flagOf, type Step } from './step.js';
import { patternWith, whiteSpace } from './unicode.js';
import { type Form, unicodeForm } from './unicode_form.js';
import { accents, capitals, combiningMarks, controls, smallLetter } from './unicode_sets.js';

const cjk: CodePoints = [
  0x3400, 0x4dbf, 0x4e00, 0x9fff, 0xf900, 0xfaff, 0x20000, 0x2a6df, 0x2a700, 0x2b73f, 0x2b740, 0x2b81f, 0x2b920,
  0x2ceaf, 0x2f800, 0x2fa1f,
];

/** The normalizer of a step of these types. */
export function unicodeNormalizer(step: Step): Normalize {
  if (step.type === 'BertNormalizer') return bert(step);
  if (step.type === 'Lowercase') return lowercasing();
  return step.type === 'StripAccents' ? leavingOut(combiningMarks()) : unicodeForm(step.type as Form);
}

/** Replaces the characters of a set, each by itself. */
function replacing(set: CodePoints, content: (character: string) => string): Normalize {
  const pattern = patternWith(set);
  return characterwise((text) => text.replace(pattern, content));
}

const leavingOut = (set: CodePoints): Normalize => replacing(set, () => '');
const lowercasing = (): Normalize => replacing(capitals(), smallLetter);

function bert(step: Step): Normalize {
  const lower = flagOf(step, 'lowercase', true);
  const steps: Normalize[] = [];
  if (flagOf(step, 'clean_text', true))
    steps.push(
      leavingOut(controls()),
      replacing(whiteSpace, () => ' '),
    );
  if (flagOf(step, 'handle_chinese_chars', true)) steps.push(replacing(cjk, (character) => ` ${character} `));
  if (flagOf(step, 'strip_accents', lower)) steps.push(unicodeForm('NFD'), leavingOut(accents()));
  if (lower) steps.push(lowercasing());
  return chain(steps);
}
