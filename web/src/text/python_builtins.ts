// What Python does with texts, lists and orders, and Jinja's tests.

import { keptRange } from './python_space.js';
import {
  entriesOf,
  equal,
  isDefined,
  isDictionary,
  isList,
  isNumber,
  isText,
  itemsOf,
  keyOf,
  made,
  nameOf,
  namesIn,
  representationOf,
  textOf,
  type Value,
  wordsOf,
} from './python_values.js';

export function expectText(value: Value): string {
  if (isText(value)) return wordsOf(value);
  throw new Error(`${nameOf(value)} is no text`);
}

/** Whether it is undefined or None. */
export const isNothing = ({ type }: Value): boolean => type === 'undefined' || type === 'null';

/** An argument, unless it is missing or None. */
export const orNothing = (given: Value | undefined): Value | undefined =>
  given && !isNothing(given) ? given : undefined;

/** A number that may be missing, or None. */
export const numberOf = (given: Value | undefined, usual: number): number => {
  const value = orNothing(given);
  if (value && !isNumber(value)) throw new Error(`${nameOf(value)} is no number`);
  return value ? Number(value.value) : usual;
};

export function expectNumber(value: Value): number {
  if (isNumber(value)) return Number(value.value);
  throw new Error(`${nameOf(value)} is no number`);
}

/** A text without some characters, or without spaces, at its ends. */
export const stripped =
  (start: boolean, end: boolean) =>
  (text: string, given?: Value): string => {
    const characters = orNothing(given);
    if (characters === undefined) return text.slice(...keptRange(text, undefined, start, end));
    const cut = expectText(characters);
    const all = [...text];
    return all.slice(...keptRange(all, (one) => cut.includes(one), start, end)).join('');
  };

/** Throws for a text so often that it would be too long to be counted. */
export function expectRoom({ length }: string | readonly unknown[], times: number): void {
  if (length * times > 2 ** 24) throw new Error(`${length} characters ${times} times are too many`);
}

/** str.capitalize(); a ligature keeps its second letter small. */
export const capitalized = (text: string): string =>
  text.replace(/^(.)(.*)/su, (_, first: string, rest: string) => {
    const [one = '', ...more] = first.toUpperCase();
    return one + (more.join('') + rest).toLowerCase();
  });

/** A text with a part in place of another, the first `count` times, or always if that is negative. */
export function replaced(text: string, old: string, by: string, count: number): string {
  expectRoom(by, text.split(old).length);
  let left = count < 0 ? Number.POSITIVE_INFINITY : count;
  return text.replaceAll(old === '' ? /(?:)/gu : old, (found) => (left-- > 0 ? by : found));
}

/** A number with some digits behind the point; as in Python what is in the middle gets an even last digit. */
export function fixed(value: number, digits: number): string {
  const most = Math.min(100, digits + 40);
  if (!(Math.abs(value) < 1e21)) throw new Error(`${value} has too many digits`);
  const [up, whole] = [value.toFixed(digits), value.toFixed(most)];
  const cut = whole.slice(0, whole.length - most + digits).replace(/\.$/, '');
  const isMiddle = /^50*$/.test(whole.slice(whole.length - most + digits));
  return isMiddle && /[02468]$/.test(cut) ? cut : up;
}

/** How values are written in places of a format: `%d`. */
const writers: Readonly<Record<string, (value: Value, digits: number | undefined) => string>> = {
  s: (value, digits) => [...textOf(value)].slice(0, digits).join(''),
  d: whole,
  i: whole,
  f: (value, digits = 6) => fixed(expectNumber(value), digits),
  r: (value, digits) => [...representationOf(value)].slice(0, digits).join(''),
  x: (value) => hexadecimal(value),
  X: (value) => hexadecimal(value).toUpperCase(),
};

function whole(value: Value): string {
  return textOf(made(Math.trunc(expectNumber(value))));
}

function hexadecimal(value: Value): string {
  if (value.type === 'float') throw new Error('float is no integer');
  return expectNumber(value).toString(16);
}

/** Python's `%` for texts, with widths, precisions and the flags `-` and `0`. */
export function formatted(text: string, given: readonly Value[]): string {
  let used = 0;
  const filled = text.replace(
    /%([-0]?)(\d{0,3})(?:\.(\d{1,2}))?(.?)/gs,
    (place, flag: string, width: string, digits: string | undefined, kind: string) => {
      if (place === '%%') return '%';
      const [value, write] = [given[used++], writers[kind]];
      if (write === undefined || value === undefined) throw new Error(`format: ${place} is unknown, or has no value`);
      const own = write(value, digits === undefined ? undefined : Number(digits));
      expectRoom(own, given.length);
      const room = Number(width) + own.length - [...own].length;
      if (flag === '-') return own.padEnd(room);
      const zeros = flag === '0' && /[^rs]/.test(kind) ? room : 0;
      const sign = zeros > 0 && own.startsWith('-') ? '-' : '';
      return (sign + own.slice(sign.length).padStart(zeros - sign.length, '0')).padStart(room);
    },
  );
  if (used < given.length) throw new Error(`format: ${given.length} values, ${used} places`);
  return filled;
}

/** The text of an argument, or those of a tuple. */
export const textsOf = (given: Value) => (isList(given) ? itemsOf(given) : [given]).map(expectText);

// biome-ignore lint/suspicious/noControlCharactersInRegex: Python has them between words
const words = /(?:[^\s\x1c-\x1f\x85]|\ufeff)+/g;

/** str.split(): at a text, or at white space, `most` times. */
export function split(text: string, sep: Value | undefined, most: Value | undefined): string[] {
  const times = numberOf(most, -1);
  const at = orNothing(sep);
  if (at === undefined) {
    const found = [...text.matchAll(words)];
    const rest = times < 0 ? undefined : found[times];
    const kept = found.slice(0, rest && times).map(([word]) => word);
    return rest ? [...kept, text.slice(rest.index)] : kept;
  }
  const mark = expectText(at);
  if (mark === '') throw new Error('split: the separator is empty');
  const parts = text.split(mark);
  return times < 0 || parts.length <= times ? parts : [...parts.slice(0, times), parts.slice(times).join(mark)];
}

/** str.rsplit(): the first part is the rest. */
export function splitBehind(text: string, sep: Value | undefined, most: Value | undefined): string[] {
  const times = numberOf(most, -1);
  const parts = split(text, sep, undefined);
  if (times < 0 || parts.length <= times) return parts;
  if (times === 0) return orNothing(sep) ? [text] : parts.length > 0 ? [stripped(false, true)(text)] : [];
  const last = parts.slice(-times);
  const at = orNothing(sep);
  if (at) return [parts.slice(0, -times).join(expectText(at)), ...last];
  const starts = [...text.matchAll(words)].map(({ index }) => index);
  const rest = stripped(false, true)(text.slice(0, starts.at(-times)));
  return rest === '' ? last : [rest, ...last];
}

/** The items of what is looped over: characters, keys or elements. Throws for what cannot be. */
export function listOf(value: Value, what?: string): Value[] {
  if (isText(value)) return [...wordsOf(value)].map(made);
  if (isList(value)) return itemsOf(value);
  if (isDictionary(value)) return [...entriesOf(value).keys()].map(keyOf);
  if (!isDefined(value)) return [];
  throw new Error(`${what ? `${what}: ` : ''}${nameOf(value)} is not iterable`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: Python has them between lines
const lineEnd = /\r\n?|[\n\v\f\x1c-\x1e\x85\u2028\u2029]/;

/** str.splitlines(). */
export function linesOf(text: string): string[] {
  const lines = text.split(lineEnd);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Less, equal or greater than 0. Throws for what has no order. */
export function order(one: Value, other: Value, isCase = true): number {
  const both = (kind: (value: Value) => boolean) => kind(one) && kind(other);
  const keys = both(isNumber)
    ? [one, other].map(({ value }) => Number(value))
    : both(isText) && [one, other].map((text) => (isCase ? wordsOf(text) : wordsOf(text).toLowerCase()));
  if (both(isList)) {
    const [left, right] = [itemsOf(one), itemsOf(other)];
    const found = left.findIndex((each, i) => i >= right.length || !equal(each, right[i] as Value));
    if (found < 0) return left.length - right.length;
    return found < right.length ? order(left[found] as Value, right[found] as Value, isCase) : 1;
  }
  if (!keys) throw new Error(`${nameOf(one)} and ${nameOf(other)} have no order`);
  const [first, second] = keys as [string, string];
  return first < second ? -1 : Number(first > second);
}

/** An attribute, or one of an attribute, as `a.b`; digits are the place of an item. */
export function attributeOf(item: Value, path: string): Value {
  let found = item;
  for (const name of path.split('.')) {
    if (!isDefined(found)) throw new Error(`there is no ${path}`);
    const inside = isList(found)
      ? itemsOf(found)[/^\d+$/.test(name) ? Number(name) : namesIn(found).indexOf(name)]
      : undefined;
    found =
      (found.value instanceof Map ? (entriesOf(found).get(name) as Value | undefined) : inside) ?? made(undefined);
  }
  return found;
}

/** Operators that compare. */
export const compared = ['==', '!=', 'in', 'not in'];
/** Operators that order. */
export const ordered: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (each) => each < 0,
  '>': (each) => each > 0,
  '<=': (each) => each <= 0,
  '>=': (each) => each >= 0,
};
/** Tests that compare. */
export const operators: Readonly<Record<string, string>> = {
  equalto: '==',
  eq: '==',
  ne: '!=',
  in: 'in',
  lt: '<',
  lessthan: '<',
  le: '<=',
  gt: '>',
  greaterthan: '>',
  ge: '>=',
  ...Object.fromEntries(['==', '!=', ...Object.keys(ordered)].map((each) => [each, each])),
};

const ofType =
  (types: RegExp) =>
  ({ type }: Value): boolean =>
    types.test(type);
/** Whether a text has letters of one case and none of the other. */
export const cased = (own: 'upper' | 'lower') => (value: Value) => {
  const text = textOf(value);
  const [upper, lower] = [text.toUpperCase(), text.toLowerCase()];
  return upper !== lower && text === { upper, lower }[own];
};
/** The rest of a division by what a test is given, or by 2. */
const rest = (value: Value, by?: Value): number => {
  const found = expectNumber(value) % numberOf(by, 2);
  if (Number.isNaN(found)) throw new Error('division by zero');
  return found;
};
const iterable = ofType(/^(string|array|object|undefined)$/);
/** The other tests. */
export const tests: Readonly<Record<string, (value: Value, other?: Value) => boolean>> = {
  iterable,
  sequence: iterable,
  number: isNumber,
  integer: ofType(/^integer$/),
  float: ofType(/^float$/),
  boolean: ofType(/^boolean$/),
  string: isText,
  mapping: isDictionary,
  callable: ofType(/^function$/),
  none: ofType(/^null$/),
  defined: isDefined,
  undefined: (value) => !isDefined(value),
  true: ({ value }) => value === true,
  false: ({ value }) => value === false,
  odd: (value) => Math.abs(rest(value)) === 1,
  even: (value) => rest(value) === 0,
  divisibleby: (value, by) => rest(value, by) === 0,
  sameas: ({ type, value }, other) => type === other?.type && value === other.value,
  upper: cased('upper'),
  lower: cased('lower'),
};
