// Methods and filters of Python's Jinja that the interpreter lacks, and tests that it answers otherwise.

import { keptRange } from './python_space.js';
import { entriesOf, isDefined, isList, isText, itemsOf, made, nameOf, type Value, wordsOf } from './python_values.js';

type Method = (text: string, given: Value, ...others: never[]) => unknown;

function expectText(value: Value): string {
  if (isText(value)) return wordsOf(value);
  throw new Error(`${nameOf(value)} is no text`);
}

/** A text without some characters, or without spaces, at its ends. */
const stripped =
  (start: boolean, end: boolean) =>
  (text: string, ...given: Value[]) => {
    const [characters] = given.map(expectText);
    if (characters === undefined) return text.slice(...keptRange(text, undefined, start, end));
    const all = [...text];
    return all.slice(...keptRange(all, (one) => characters.includes(one), start, end)).join('');
  };

/** Throws for a text so often that it would be too long to be counted. */
export function expectRoom({ length }: string, times: number): void {
  if (length * times > 2 ** 24) throw new Error(`${length} characters ${times} times are too many`);
}

const capitalized = (text: string) =>
  text.replace(/^(.)(.*)/su, (_, first, rest) => first.toUpperCase() + rest.toLowerCase());

/** The text of an argument, or those of a tuple. */
const textsOf = (given: Value) => (isList(given) ? itemsOf(given) : [given]).map(expectText);

// biome-ignore lint/suspicious/noControlCharactersInRegex: Python has them between words
const words = /(?:[^\s\x1c-\x1f\x85]|\ufeff)+/g;

/** Methods of texts; those with a second parameter need an argument, and none takes more than one. */
export const textMethods: Readonly<Record<string, Method>> = {
  count: (text, part) => text.split(expectText(part)).length - 1,
  find(text, part) {
    const at = text.indexOf(expectText(part));
    return at < 0 ? at : [...text.slice(0, at)].length;
  },
  capitalize: capitalized,
  title: (text) => text.replace(/\p{L}+/gu, capitalized),
  join(text, parts) {
    const words = listOf(parts).map(expectText);
    expectRoom(text, words.length);
    return words.join(text);
  },
  split: (text) => text.match(words) ?? [],
  startswith: (text, parts) => textsOf(parts).some((part) => text.startsWith(part)),
  endswith: (text, parts) => textsOf(parts).some((part) => text.endsWith(part)),
  strip: stripped(true, true),
  lstrip: stripped(true, false),
  rstrip: stripped(false, true),
};

/** The items of what is looped over: characters, keys or elements. Throws for what cannot be. */
export function listOf(value: Value): Value[] {
  if (isText(value)) return [...wordsOf(value)].map(made);
  if (isList(value)) return itemsOf(value);
  if (value.type === 'ObjectValue') return [...entriesOf(value).keys()].map(made);
  if (!isDefined(value)) return [];
  throw new Error(`${nameOf(value)} is not iterable`);
}

/** What str.splitlines() cuts a text at. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: Python has them between lines
export const lineEnd = /\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]/g;

/** Filters of texts. */
export const textFilters: Readonly<Record<string, (text: string, ...given: Value[]) => string>> = {
  capitalize: capitalized,
  title: (text) => text.replace(/[^-\s({[<]+/g, capitalized),
  trim: stripped(true, true),
};

/** Operators that compare. */
export const compared = ['==', '!=', 'in', 'not in'];
/** Tests that compare. */
export const operators: Readonly<Record<string, string>> = {
  equalto: '==',
  eq: '==',
  '==': '==',
  ne: '!=',
  '!=': '!=',
  in: 'in',
};
/** Tests that the interpreter answers otherwise, and the values for which they are true. */
export const typesOfTests: Readonly<Record<string, RegExp>> = {
  iterable: /^(String|Array|Object|Undefined)/,
  number: /^(Integer|Float|Boolean)/,
  float: /^Float/,
};
