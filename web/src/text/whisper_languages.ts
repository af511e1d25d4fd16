// Whisper's tasks, and its languages by code and name.

import { ClearformerError, textOf } from '../support/error.js';

export const tasks: readonly string[] = ['transcribe', 'translate'];

// Whisper's names of languages that Intl names differently, or not in every engine.
const ownNames: Readonly<Record<string, string>> = {
  ba: 'bashkir',
  bn: 'bengali',
  bo: 'tibetan',
  mi: 'maori',
  my: 'myanmar',
  nn: 'nynorsk',
  tl: 'tagalog',
  yue: 'cantonese',
  jw: 'javanese',
};
// Other names of languages, as in transformers.
const otherNames = new Map([
  ['burmese', 'my'],
  ['valencian', 'ca'],
  ['flemish', 'nl'],
  ['haitian', 'ht'],
  ['letzeburgesch', 'lb'],
  ['pushto', 'ps'],
  ['panjabi', 'pa'],
  ['moldavian', 'ro'],
  ['moldovan', 'ro'],
  ['sinhalese', 'si'],
  ['castilian', 'es'],
  ['mandarin', 'zh'],
]);

/** The token of a language by its code or a name. */
export function languageId(language: string, ids: Readonly<Record<string, number>>): number {
  const wanted = textOf(language).toLowerCase();
  const codes = Object.keys(ids).map((token) => token.slice(2, -2));
  const code =
    codes.find((each) => each === wanted || `<|${each}|>` === wanted) ??
    codes.find((each) => nameOfLanguage(each) === wanted) ??
    codes.find((each) => each === otherNames.get(wanted));
  if (code !== undefined) return ids[`<|${code}|>`] as number;
  throw new ClearformerError('invalid_argument', `language: ${textOf(language)} is none of ${codes.join(', ')}`, {
    option: 'language',
    expected: codes,
  });
}

/** The name of a language in English, in lower case. */
export function nameOfLanguage(code: string): string {
  const names = new Intl.DisplayNames('en', { type: 'language' });
  try {
    return ownNames[code] ?? names.of(code)?.toLowerCase() ?? code;
  } catch {
    return code; // none of the form of a code
  }
}
