// Methods and filters of Python's Jinja that the interpreter lacks.

import { entriesOf, isList, isText, itemsOf, made, type Value, wordsOf } from './python_values.js';

/** `first` is what the first argument, if any, holds. */
type Methods = Readonly<Record<string, (text: string, first: string, given: readonly Value[]) => unknown>>;

/** A text without some characters, or without spaces, at its ends. */
const stripped = (start: boolean, end: boolean) => (text: string, characters?: string) => {
  const isCut = (one: string) => characters?.includes(one) ?? one.trim() === '';
  const all = [...text];
  let [first, after] = [0, all.length];
  while (start && first < after && isCut(all[first] as string)) first++;
  while (end && first < after && isCut(all[after - 1] as string)) after--;
  return all.slice(first, after).join('');
};

/** Throws for a text so often that it would be too long to be counted. */
export function expectRoom({ length }: string, times: number): void {
  if (length * times > 2 ** 24) throw new Error(`${length} characters ${times} times are too many`);
}

const capitalized = (text: string) =>
  text.replace(/^./su, (first) => first.toUpperCase()).replace(/(?<=^.).+/su, (rest) => rest.toLowerCase());

/** Methods of texts. */
export const textMethods: Methods = {
  count: (text, part) => text.split(part).length - 1,
  find: (text, part) => text.indexOf(part),
  capitalize: capitalized,
  title: (text) => text.replace(/\p{L}+/gu, capitalized),
  join(text, _, [parts]) {
    const words = listOf(parts as Value).map(wordsOf);
    expectRoom(text, words.length);
    return words.join(text);
  },
  strip: stripped(true, true),
  lstrip: stripped(true, false),
  rstrip: stripped(false, true),
};

/** The items of what is looped over: characters, keys or elements. */
export function listOf(value: Value): Value[] {
  if (isText(value)) return [...wordsOf(value)].map(made);
  if (isList(value)) return itemsOf(value);
  return value.type === 'ObjectValue' ? [...entriesOf(value).keys()].map(made) : [];
}

/** Filters of texts. */
export const textFilters: Readonly<Record<string, (text: string) => string>> = {
  capitalize: capitalized,
  title: (text) => text.replace(/[^-\s({[<]+/g, capitalized),
};

/** A local date as Python's `strftime` formats it, in English. */
export function dated(format: string, date: Date): string {
  const [month, day] = (['month', 'weekday'] as const).map((part) => date.toLocaleString('en-US', { [part]: 'long' }));
  const parts: Readonly<Record<string, unknown>> = {
    Y: date.getFullYear(),
    m: date.getMonth() + 1,
    d: date.getDate(),
    H: date.getHours(),
    M: date.getMinutes(),
    S: date.getSeconds(),
    B: month,
    b: month?.slice(0, 3),
    A: day,
    a: day?.slice(0, 3),
    '%': '%',
  };
  return format.replace(/%(-?)([\w%])/g, (found, plain, letter) =>
    String(parts[letter] ?? found).replace(/^\d$/, plain ? '$&' : '0$&'),
  );
}
