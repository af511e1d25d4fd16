// Unicode properties as used by the `tokenizers` crate, independent of the JavaScript engine's version of Unicode.

import { complement, without } from './code_point_algebra.js';
import { type CodePoints, codePointsOf, union } from './code_points.js';
import { once, whiteSpace } from './unicode.js';
import { kindLetters, kinds, newLowercase, runs } from './unicode_tables.js';

/** Ranges by kind: a general category, and letters for deviating properties in parts of the crate. */
const rangesByKind = once((): ReadonlyMap<string, CodePoints> => {
  const names = kinds.split(' ');
  const byLetter = new Map(Array.from(kindLetters, (letter, i) => [letter, names[i] ?? '']));
  const found = new Map<string, number[]>(names.map((name) => [name, []]));
  let from = 0;
  for (const [, letter = '', length] of runs.matchAll(/([^0-9a-z])([0-9a-z]*)/g)) {
    const to = from + (length ? Number.parseInt(length, 36) : 1);
    found.get(byLetter.get(letter) ?? '')?.push(from, to - 1);
    from = to;
  }
  return found;
});

function where(holds: (kind: string) => boolean): CodePoints {
  const sets = Array.from(rangesByKind(), ([kind, ranges]) => (holds(kind) ? ranges : []));
  return union(...sets);
}

const asked = new Map<string, CodePoints>();

/** The code points of a general category (`Lu`) or of a group of them (`L`) in the crate's regular expressions. */
export function category(name: string): CodePoints {
  const known = asked.get(name);
  if (known !== undefined) return known;
  const found = where((kind) => kind.startsWith(name));
  asked.set(name, found);
  return found;
}

/** A set by category; `letter` marks the kinds with the opposite membership. */
const deviating = (letter: string, usual: RegExp) =>
  once(() => where((kind) => usual.test(kind) !== kind.slice(2).includes(letter)));

/** Alphabetic, in the regular expressions. */
export const alphabetic = deviating('A', /^(L|Nl)/);
/** Punctuation, in pre-tokenizers. */
export const punctuation = once(() => union(deviating('P', /^P/)(), codePointsOf('$+<=>^`|~')));
/** Numbers, in the pre-tokenizer Digits. */
export const numeric = deviating('N', /^N/);
/** The characters that BERT's cleaning removes, besides those it replaces by spaces. */
export const controls = deviating('C', /^C[cfo]/);
/** The accents that BERT removes. */
export const accents = deviating('S', /^Mn/);
/** The accents that the normalizer StripAccents removes. */
export const combiningMarks = deviating('M', /^M/);
/** Characters with a lower case form. */
export const capitals = deviating('L', /^L[ut]/);
/** Characters that normalization forms may change, compose or reorder. */
export const normalized = once(() => where((kind) => !/^Cn|F/.test(kind)));

const joiners: CodePoints = [0x200c, 0x200d];
/** \w of the regex crate. */
export const wordCharacters = once(() => union(alphabetic(), category('M'), category('Nd'), category('Pc'), joiners));

/** The lower case form of a letter, as in Rust: context-free, without special treatment of final sigma. */
export function smallLetter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return character.toLowerCase();
  const pair = newLowercase.find(([from, to]) => from <= code && code <= to);
  return pair === undefined ? character.toLowerCase() : String.fromCodePoint(code + pair[2]);
}

/** The complement of the set and the spaces. */
export function neitherNorSpace(set: CodePoints): CodePoints {
  return without(complement(set), whiteSpace);
}
