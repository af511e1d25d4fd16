// tokenizer.json's `normalizer`: what is done to a text before it is cut, with the characters' origins kept.

import { ReplaceNormalizer } from '@huggingface/tokenizers';
import { ClearformerError } from '../support/error.js';
import type { AlignedText } from './aligned_text.js';
import { spellBytes } from './byte_level.js';
import { precompiled } from './precompiled.js';
import { unicodeForm } from './unicode_form.js';

/** One step of tokenizer.json: its `type` and what that type needs. */
export type Step = { readonly type: string } & Readonly<Record<string, unknown>>;

export type Normalize = (text: AlignedText) => AlignedText;

const nothing = () => '';
const space = () => ' ';
const cjk =
  /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;

// The crate's table is Unicode 8's: since then four characters have become such marks, and one is none any more.
const accents = /(?![\u1885\u1886\ua9bd\u{111c9}])\p{Mn}|\u1734/gu;

/** The normalizer of a tokenizer.json; throws `unsupported` for one of an unknown type. */
export function normalizerOf(step: Step | null | undefined): Normalize {
  if (step === null || step === undefined) return (text) => text;
  const make = makers[step.type];
  if (make !== undefined) return make(step);
  throw unknownStep('normalizer', step.type);
}

export function unknownStep(kind: string, type: string): ClearformerError {
  return new ClearformerError('unsupported', `tokenizer.json: ${kind} ${type} is not known`, {
    file: 'tokenizer.json',
  });
}

const makers: Readonly<Record<string, (step: Step) => Normalize>> = {
  Sequence: ({ normalizers }) => {
    const steps = (normalizers as Step[]).map(normalizerOf);
    return (text) => steps.reduce((done, normalize) => normalize(done), text);
  },
  BertNormalizer: bert,
  NFC: () => (text) => unicodeForm(text, 'NFC'),
  NFD: () => (text) => unicodeForm(text, 'NFD'),
  NFKC: () => (text) => unicodeForm(text, 'NFKC'),
  NFKD: () => (text) => unicodeForm(text, 'NFKD'),
  Lowercase: () => lowercase,
  ByteLevel: () => spellBytes,
  StripAccents: () => (text) => text.replace(/\p{M}/gu, nothing),
  Strip: ({ strip_left, strip_right }) => {
    const sides = [...(strip_left ? ['^\\p{White_Space}+'] : []), ...(strip_right ? ['\\p{White_Space}+$'] : [])];
    const pattern = new RegExp(sides.join('|') || '(?!)', 'gu');
    return (text) => text.replace(pattern, nothing);
  },
  Replace: ({ pattern, content }) => {
    const { pattern: compiled } = new ReplaceNormalizer({ type: 'Replace', pattern: pattern as never, content: '' });
    return (text) => (compiled === null ? text : text.replace(compiled, () => content as string));
  },
  Prepend:
    ({ prepend }) =>
    (text) =>
      text.prepend(prepend as string),
  Precompiled: ({ precompiled_charsmap }) => precompiled(precompiled_charsmap as string),
  Nmt: () => (text) =>
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
      .replace(/[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]/g, nothing)
      .replace(/[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]/g, space),
};

// One character at a time: the last sigma of a word is no exception here, as it is in JavaScript's toLowerCase.
function lowercase(text: AlignedText): AlignedText {
  return text.replace(/\p{Changes_When_Lowercased}/gu, (character) => character.toLowerCase());
}

function bert({ clean_text, handle_chinese_chars, strip_accents, lowercase: lower }: Step): Normalize {
  const clean = (text: AlignedText) =>
    text.replace(/(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\ufffd]/gu, nothing).replace(/\p{White_Space}/gu, space);
  const steps: Normalize[] = [
    ...(clean_text ? [clean] : []),
    ...(handle_chinese_chars ? [(text: AlignedText) => text.replace(cjk, (character) => ` ${character} `)] : []),
    ...((strip_accents ?? lower) ? [(text: AlignedText) => unicodeForm(text, 'NFD').replace(accents, nothing)] : []),
    ...(lower ? [lowercase] : []),
  ];
  return (text) => steps.reduce((done, normalize) => normalize(done), text);
}
