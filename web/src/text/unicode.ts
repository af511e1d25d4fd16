// What the parts of the `tokenizers` crate know of each code point, whatever version of Unicode the JavaScript engine has.

import { ClearformerError } from '../support/error.js';
import { type CodePoints, classOf, codePointsOf, complement, union, without } from './code_points.js';
import type { Pattern } from './pattern.js';

/** What on_demand.ts has: the tables, and patterns. Tokenizers of SentencePiece's kind do without. */
type OnDemand = typeof import('./unicode_tables.js') & { regularExpression(source: string): Pattern };

let loaded: OnDemand | undefined;

export function useOnDemand(given: OnDemand): void {
  loaded = given;
}

/** A tokenizer was made that asks for categories or patterns before they were there. */
export class NotLoaded extends ClearformerError {
  constructor() {
    const how = "load the tokenizer with AutoTokenizer, or import PreTrainedTokenizer from 'clearformer/tokenizer'";
    super('unsupported', `tokenizer.json has steps that need the tables of Unicode, which are not loaded: ${how}`);
  }
}

export function onDemand(): OnDemand {
  if (loaded === undefined) throw new NotLoaded();
  return loaded;
}

/** Ranges by kind: a general category, and letters for what other parts of the crate see in these code points. */
const rangesByKind = once((): ReadonlyMap<string, CodePoints> => {
  const { kinds, kindLetters, runs } = onDemand();
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

/** A set by category; `letter` marks the kinds for which it is the other way round. */
const deviating = (letter: string, usual: RegExp) =>
  once(() => where((kind) => usual.test(kind) !== kind.slice(2).includes(letter)));

/** Alphabetic, in the regular expressions. */
export const alphabetic = deviating('A', /^(L|Nl)/);
/** Punctuation, in pre-tokenizers. */
export const punctuation = once(() => union(deviating('P', /^P/)(), codePointsOf('$+<=>^`|~')));
/** Numbers, in the pre-tokenizer Digits. */
export const numeric = deviating('N', /^N/);
/** What BERT's cleaning takes out, besides what it makes spaces of. */
export const controls = deviating('C', /^C[cfo]/);
/** What BERT takes for an accent. */
export const accents = deviating('S', /^Mn/);
/** What the normalizer StripAccents takes for one. */
export const combiningMarks = deviating('M', /^M/);
/** What has a small letter of its own. */
export const capitals = deviating('L', /^L[ut]/);
/** What normalization forms change, compose or sort, and what they certainly leave alone. */
export const normalized = once(() => where((kind) => !/^Cn|F/.test(kind)));

/** White_Space, which has been the same since Unicode 6.3. */
export const whiteSpace: CodePoints = union(
  [0x09, 0x0d, 0x2000, 0x200a, 0x2028, 0x2029],
  codePointsOf(' \u0085\u00a0\u1680\u202f\u205f\u3000'),
);
const joiners: CodePoints = [0x200c, 0x200d];
/** \w of the regex crate. */
export const wordCharacters = once(() => union(alphabetic(), category('M'), category('Nd'), category('Pc'), joiners));

/** A pattern with the flags g and u, of classes and what stands between them. */
export function patternWith(...parts: readonly (string | CodePoints)[]): RegExp {
  return new RegExp(parts.map((part) => (typeof part === 'string' ? part : classOf(part))).join(''), 'gu');
}

/** A capital letter's small one, as in Rust: one character by itself, the last sigma of a word is no exception. */
export function smallLetter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return character.toLowerCase();
  const pair = onDemand().newLowercase.find(([from, to]) => from <= code && code <= to);
  return pair === undefined ? character.toLowerCase() : String.fromCodePoint(code + pair[2]);
}

/** A value that is made when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** What is not in the set and no space. */
export function neitherNorSpace(set: CodePoints): CodePoints {
  return without(complement(set), whiteSpace);
}
