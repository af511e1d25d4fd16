// Unicode properties as used by the `tokenizers` crate, independent of the JavaScript engine's version of Unicode.

import { ClearformerError } from '../support/error.js';
import { type CodePoints, classOf, codePointsOf, complement, union, without } from './code_points.js';
import type { Pattern } from './pattern.js';

/** The contents of on_demand.ts: tables and patterns. SentencePiece tokenizers do without. */
type OnDemand = typeof import('./unicode_tables.js') & { regularExpression(source: string): Pattern };

let loaded: OnDemand | undefined;

export function useOnDemand(given: OnDemand): void {
  loaded = given;
}

/** Thrown by a tokenizer that needs categories or patterns before they are loaded. */
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

/** Ranges by kind: a general category, and letters for deviating properties in parts of the crate. */
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

/** White_Space, unchanged since Unicode 6.3. */
export const whiteSpace: CodePoints = union(
  [0x09, 0x0d, 0x2000, 0x200a, 0x2028, 0x2029],
  codePointsOf(' \u0085\u00a0\u1680\u202f\u205f\u3000'),
);
const joiners: CodePoints = [0x200c, 0x200d];
/** \w of the regex crate. */
export const wordCharacters = once(() => union(alphabetic(), category('M'), category('Nd'), category('Pc'), joiners));

/** A pattern with the flags g and u, made of classes and strings. */
export function patternWith(...parts: readonly (string | CodePoints)[]): RegExp {
  return new RegExp(parts.map((part) => (typeof part === 'string' ? part : classOf(part))).join(''), 'gu');
}

/** The lower case form of a letter, as in Rust: context-free, without special treatment of final sigma. */
export function smallLetter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return character.toLowerCase();
  const pair = onDemand().newLowercase.find(([from, to]) => from <= code && code <= to);
  return pair === undefined ? character.toLowerCase() : String.fromCodePoint(code + pair[2]);
}

/** A value computed on first use. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The complement of the set and the spaces. */
export function neitherNorSpace(set: CodePoints): CodePoints {
  return without(complement(set), whiteSpace);
}
