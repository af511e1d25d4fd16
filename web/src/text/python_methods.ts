// The methods of Python's texts, lists and dictionaries.

import {
  capitalized,
  cased,
  expectNumber,
  expectRoom,
  expectText,
  linesOf,
  listOf,
  numberOf,
  orNothing,
  replaced,
  split,
  splitBehind,
  stripped,
  textsOf,
} from './python_builtins.js';
import { isSpace } from './python_space.js';
import {
  asKind,
  dictionaryOf,
  entriesOf,
  equal,
  isDefined,
  isDictionary,
  isList,
  isText,
  itemsOf,
  keyIn,
  keyOf,
  listOfValues,
  made,
  textOf,
  type Value,
} from './python_values.js';

/** The names of the parameters, `?` after those that may be missing, and the result; what is missing is undefined. */
export type Method = readonly [parameters: string, run: (own: Value, ...given: Value[]) => Value];
export type Methods = Readonly<Record<string, Method>>;

/** A method of what a value is as text. */
export const ofText =
  (run: (text: string, ...given: Value[]) => unknown): Method[1] =>
  (own, ...given) =>
    made(run(textOf(own), ...given));

export const tupleOf = (items: readonly Value[]): Value => asKind(listOfValues(items), 'tuple');
/** The entries of a dictionary, as tuples. */
export const pairsOf = (own: Value): Value[] => [...entriesOf(own)].map(([key, each]) => tupleOf([keyOf(key), each]));

export const upper: Method = ['', ofText((text) => text.toUpperCase())];
export const lower: Method = ['', ofText((text) => text.toLowerCase())];
export const capitalize: Method = ['', ofText(capitalized)];

/** A range of characters, as in a slice. */
function within(text: string, first: Value | undefined, after: Value | undefined): [from: number, part: string] {
  if (!orNothing(first) && !orNothing(after)) return [0, text];
  const all = [...text];
  const from = numberOf(first, 0);
  return [from < 0 ? Math.max(0, all.length + from) : from, all.slice(from, numberOf(after, all.length)).join('')];
}

/** Where a part is, in characters; -1 if it is not. */
function placeOf(search: 'indexOf' | 'lastIndexOf', text: string, ...[part, first, after]: Value[]): number {
  const [from, inside] = within(text, first, after);
  const at = inside[search](expectText(part as Value));
  return at < 0 ? at : from + [...inside.slice(0, at)].length;
}

/** str.find() or str.rfind(). */
const found = (search: 'indexOf' | 'lastIndexOf'): Method => [
  'part start? end?',
  ofText((text, ...given) => placeOf(search, text, ...given)),
];

/** str.index() or str.rindex(). */
const place = (search: 'indexOf' | 'lastIndexOf'): Method => [
  'part start? end?',
  ofText((text, ...given) => {
    const at = placeOf(search, text, ...given);
    if (at < 0) throw new Error('index: the text does not have this part');
    return at;
  }),
];

/** str.startswith() or str.endswith(). */
const edge = (has: 'startsWith' | 'endsWith'): Method => [
  'parts start? end?',
  ofText((text, parts, first, after) => {
    const [, inside] = within(text, first, after);
    return textsOf(parts as Value).some((part) => inside[has](part));
  }),
];

/** What is before a part, the part, and what is behind it. */
const divided = (isLast: boolean): Method => [
  'part',
  (own, part) => {
    const [text, mark] = [textOf(own), expectText(part as Value)];
    if (mark === '') throw new Error('partition: the separator is empty');
    const at = isLast ? text.lastIndexOf(mark) : text.indexOf(mark);
    const parts = [text.slice(0, at), mark, text.slice(at + mark.length)];
    return tupleOf((at >= 0 ? parts : isLast ? ['', '', text] : [text, '', '']).map(made));
  },
];

/** A text with as many fillings at its ends as a width needs. */
export const filled =
  (sides: 'start' | 'end' | 'both') =>
  (text: string, width?: Value, filling?: Value): string => {
    const by = orNothing(filling) ? expectText(filling as Value) : ' ';
    if ([...by].length !== 1) throw new Error('it is filled with one character');
    const wide = width ? expectNumber(width) : 0;
    const missing = Math.max(0, Math.trunc(wide) - [...text].length);
    expectRoom(by, missing);
    const start = { start: missing, end: 0, both: (missing >> 1) + (missing & wide & 1) }[sides];
    return by.repeat(start) + text + by.repeat(missing - start);
  };

const every = (pattern: RegExp): Method => ['', ofText((text) => pattern.test(text))];

/** Decimal digits, and those of other kinds: superscript, in circles, Ethiopic, … */
const digits =
  /^[\p{Nd}²³¹\u1369-\u1371\u19da⁰⁴-⁹₀-₉①-⑨⑴-⑼⒈-⒐⓪⓵-⓽⓿❶-❾➀-➈➊-➒\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}\u{1f100}-\u{1f10a}]+$/u;

const textMethods: Methods = {
  capitalize,
  center: ['width filling?', ofText(filled('both'))],
  count: [
    'part start? end?',
    ofText((text, part, first, after) => {
      const [, inside] = within(text, first, after);
      const mark = expectText(part as Value);
      return mark === '' ? [...inside].length + 1 : inside.split(mark).length - 1;
    }),
  ],
  endswith: edge('endsWith'),
  find: found('indexOf'),
  index: place('indexOf'),
  isalnum: every(/^[\p{L}\p{N}]+$/u),
  isalpha: every(/^\p{L}+$/u),
  isdecimal: every(/^\p{Nd}+$/u),
  isdigit: every(digits),
  islower: ['', (own) => made(cased('lower')(own))],
  isspace: ['', ofText((text) => text !== '' && [...text].every(isSpace))],
  isupper: ['', (own) => made(cased('upper')(own))],
  join: [
    'parts',
    ofText((text, parts) => {
      const each = listOf(parts as Value).map(expectText);
      expectRoom(text, each.length);
      return each.join(text);
    }),
  ],
  ljust: ['width filling?', ofText(filled('end'))],
  lower,
  lstrip: ['chars?', ofText(stripped(true, false))],
  partition: divided(false),
  removeprefix: [
    'part',
    ofText((text, part) => text.slice(text.startsWith(expectText(part as Value)) ? textOf(part as Value).length : 0)),
  ],
  removesuffix: [
    'part',
    ofText((text, part) =>
      text.slice(0, text.length - (text.endsWith(expectText(part as Value)) ? textOf(part as Value).length : 0)),
    ),
  ],
  replace: [
    'old new count?',
    ofText((text, ...[old, by, count]) =>
      replaced(text, expectText(old as Value), expectText(by as Value), numberOf(count, -1)),
    ),
  ],
  rfind: found('lastIndexOf'),
  rindex: place('lastIndexOf'),
  rjust: ['width filling?', ofText(filled('start'))],
  rpartition: divided(true),
  rsplit: ['sep? maxsplit?', ofText(splitBehind)],
  rstrip: ['chars?', ofText(stripped(false, true))],
  split: ['sep? maxsplit?', ofText(split)],
  splitlines: ['', ofText(linesOf)],
  startswith: edge('startsWith'),
  strip: ['chars?', ofText(stripped(true, true))],
  swapcase: [
    '',
    ofText((text) =>
      [...text].map((one) => (one.toUpperCase() === one ? one.toLowerCase() : one.toUpperCase())).join(''),
    ),
  ],
  title: ['', ofText((text) => text.replace(/\p{L}+/gu, capitalized))],
  upper,
  zfill: [
    'width',
    ofText((text, width) => {
      const [sign = ''] = /^[+-]/.exec(text) ?? [];
      return (
        sign + filled('start')(text.slice(sign.length), made(expectNumber(width as Value) - sign.length), made('0'))
      );
    }),
  ],
};

const listMethods: Methods = {
  copy: ['', (own) => listOfValues(itemsOf(own))],
  count: ['item', (own, item) => made(itemsOf(own).filter((each) => equal(each, item as Value)).length)],
  index: [
    'item',
    (own, item) => {
      const at = itemsOf(own).findIndex((each) => equal(each, item as Value));
      if (at < 0) throw new Error('index: the list does not have this item');
      return made(at);
    },
  ],
};

const dictionaryMethods: Methods = {
  copy: ['', (own) => dictionaryOf(entriesOf(own))],
  get: [
    'key default?',
    (own, key, value) =>
      entriesOf(own).get(keyIn(entriesOf(own), key?.value)) ?? (value && isDefined(value) ? value : made(null)),
  ],
  items: ['', (own) => asKind(listOfValues(pairsOf(own)), 'dict_items')],
  keys: ['', (own) => asKind(listOfValues(listOf(own)), 'dict_keys')],
  values: ['', (own) => asKind(listOfValues([...entriesOf(own).values()]), 'dict_values')],
};

/** The methods of a value, which go before a dictionary's keys in `a.b`. */
export function methodsOf(value: Value): Methods {
  return isText(value) ? textMethods : isDictionary(value) ? dictionaryMethods : isList(value) ? listMethods : {};
}
