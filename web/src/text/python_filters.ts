// Jinja's filters of single values, and the methods of Python's texts and dictionaries. Filters that call others, or tests, are
// the interpreter's (python_template.ts).

import {
  attributeOf,
  capitalized,
  expectNumber,
  expectRoom,
  expectText,
  fixed,
  linesOf,
  listOf,
  numberOf,
  order,
  orNothing,
  replaced,
  split,
  stripped,
  textsOf,
} from './python_builtins.js';
import { escaped, safe } from './python_markup.js';
import {
  asKind,
  entriesOf,
  float,
  isDefined,
  isDictionary,
  isNumber,
  isText,
  isTrue,
  itemsOf,
  jsonOf,
  keyIn,
  keyOf,
  listOfValues,
  made,
  nameOf,
  textOf,
  type Value,
  wordsOf,
} from './python_values.js';

/** The names of the parameters, `?` after those that may be missing, and the result; what is missing is undefined. */
export type Method = readonly [parameters: string, run: (own: Value, ...given: Value[]) => Value];
type Methods = Readonly<Record<string, Method>>;

const isSet = (value: Value | undefined): boolean => value !== undefined && isTrue(value);
const nothing = (): Value => made(undefined);

/** A method of what a value is as text. */
const ofText =
  (run: (text: string, ...given: Value[]) => unknown): Method[1] =>
  (own, ...given) =>
    made(run(textOf(own), ...given));

/** int() and float() for texts, which may have `_` between digits; undefined for what is none. */
function parsed(value: Value): number | undefined {
  if (isNumber(value)) return Number(value.value);
  const digits = isText(value)
    ? wordsOf(value)
        .replace(/(?<=\d)_(?=\d)/g, '')
        .trim()
    : '';
  const number = digits === '' || /[box]/i.test(digits) ? Number.NaN : Number(digits);
  return Number.isFinite(number) ? number : undefined;
}

const spaces = (width: Value | undefined, usual: number): string =>
  width && isText(width) ? wordsOf(width) : ' '.repeat(Math.max(0, Math.min(numberOf(width, usual), 2 ** 25)));

function indented(text: string, width?: Value, first?: Value, blank?: Value): string {
  const lines = linesOf(`${text}\n`);
  const by = spaces(width, 4);
  expectRoom(by, lines.length);
  const isIndented = (line: string, i: number) => (i === 0 ? isSet(first) : isSet(blank) || line !== '');
  return lines.map((line, i) => (isIndented(line, i) ? by + line : line)).join('\n');
}

const longestIndent = 64;

function json(own: Value, isAscii?: Value, width?: Value, separators?: Value, isSorted?: Value): Value {
  const indent = orNothing(width) && spaces(width, 0);
  if (indent && indent.length > longestIndent) throw new Error(`tojson: it is not indented by ${indent.length} spaces`);
  const between = orNothing(separators);
  return made(
    jsonOf(own, {
      isAscii: isSet(isAscii),
      isSorted: isSet(isSorted),
      indent,
      separators: between ? listOf(between).map(expectText) : [indent === undefined ? ', ' : ',', ': '],
    }),
  );
}

/** A number or another value; only the base 10 is read. */
function integer(own: Value, usual: Value, base: Value): Value {
  if (numberOf(base, 10) !== 10) throw new Error('int: only the base 10 is known');
  const number = parsed(own);
  return number === undefined ? (orNothing(usual) ?? made(0)) : made(Math.trunc(number));
}

const pairs = (own: Value): Value[] =>
  [...entriesOf(own)].map(([key, each]) => asKind(listOfValues([keyOf(key), each]), 'tuple'));

/** The attribute of an item that is compared, or the item; one attribute, not several. */
export function keyBy(filter: string, attribute: Value | undefined): (item: Value) => Value {
  const path = orNothing(attribute) && textOf(attribute as Value);
  if (path?.includes(',')) throw new Error(`${filter}: it takes one attribute`);
  return (item) => (path ? attributeOf(item, path) : item);
}

function sorted(items: readonly Value[], key: (item: Value) => Value, reverse?: Value, isCase?: Value): Value {
  const sign = isSet(reverse) ? -1 : 1;
  return listOfValues([...items].sort((one, other) => sign * order(key(one), key(other), isSet(isCase))));
}

/** The first of the smallest or of the largest items. */
function extreme(filter: string, sign: number): Method[1] {
  return (own, isCase, attribute) => {
    const key = keyBy(filter, attribute);
    const isBetter = (one: Value, other: Value) => order(key(one), key(other), isSet(isCase)) * sign > 0;
    const [first, ...others] = listOf(own);
    return others.reduce((best, one) => (isBetter(one, best) ? one : best), first ?? nothing());
  };
}

/** Items with equal attributes, by these: tuples with names. */
function grouped(own: Value, attribute: Value, usual: Value, isCase: Value): Value {
  const found = keyBy('groupby', attribute);
  const key = (item: Value) => (isDefined(found(item)) ? found(item) : usual);
  const groups: Value[][] = [];
  for (const item of itemsOf(sorted(listOf(own), key, undefined, isCase))) {
    const group = groups.at(-1);
    if (group && order(key(group[0] as Value), key(item), isSet(isCase)) === 0) group.push(item);
    else groups.push([item]);
  }
  return listOfValues(
    groups.map((group) => {
      const pair = asKind(listOfValues([key(group[0] as Value), listOfValues(group)]), 'tuple');
      return Object.assign(pair, { names: ['grouper', 'list'] });
    }),
  );
}

function rounded(own: Value, precision: Value, method: Value): Value {
  const [value, digits] = [expectNumber(own), numberOf(precision, 0)];
  const how = orNothing(method) ? textOf(method) : 'common';
  if (how === 'common' && digits >= 0) return own.type === 'float' ? float(Number(fixed(value, digits))) : made(value);
  if (how !== 'ceil' && how !== 'floor') throw new Error(`round: ${how} with ${digits} digits is not supported`);
  return float(Math[how](value * 10 ** digits) / 10 ** digits);
}

function unique(own: Value, isCase: Value, attribute: Value): Value {
  const key = keyBy('unique', attribute);
  const seen = new Set();
  const identity = (item: Value) => {
    const by = key(item);
    if (isText(by)) return isSet(isCase) ? wordsOf(by) : wordsOf(by).toLowerCase();
    return isNumber(by) ? Number(by.value) : by;
  };
  return listOfValues(listOf(own).filter((item) => !seen.has(identity(item)) && seen.add(identity(item))));
}

function joined(own: Value, separator: Value, attribute: Value): Value {
  const between = textOf(separator);
  const each = listOf(own).map(keyBy('join', attribute));
  expectRoom(between, each.length);
  return made(each.map(textOf).join(between));
}

const usual: Method = [
  'default_value? boolean?',
  (own, value, boolean) => {
    if (isDefined(own) && (isTrue(own) || !isSet(boolean))) return own;
    return value && isDefined(value) ? value : made('');
  },
];
const length: Method = ['', (own) => made(listOf(own).length)];
const upper: Method = ['', ofText((text) => text.toUpperCase())];
const lower: Method = ['', ofText((text) => text.toLowerCase())];
const capitalize: Method = ['', ofText(capitalized)];

export const filters: Methods = {
  abs: ['', (own) => (own.type === 'float' ? float : made)(Math.abs(expectNumber(own)))],
  capitalize,
  count: length,
  d: usual,
  default: usual,
  dictsort: [
    'case_sensitive? by? reverse?',
    (own, isCase, by, reverse) => {
      expectDictionary(own);
      return sorted(pairs(own), (pair) => attributeOf(pair, textOf(by) === 'value' ? '1' : '0'), reverse, isCase);
    },
  ],
  e: ['', escaped],
  escape: ['', escaped],
  first: ['', (own) => (isText(own) ? made(/^./su.exec(wordsOf(own))?.[0]) : (listOf(own)[0] ?? nothing()))],
  float: ['default?', (own, value) => (parsed(own) === undefined && orNothing(value)) || float(parsed(own) ?? 0)],
  groupby: ['attribute default? case_sensitive?', grouped],
  indent: ['width? first? blank?', ofText(indented)],
  int: ['default? base?', integer],
  items: [
    '',
    (own) => {
      if (!isDefined(own)) return listOfValues([]);
      expectDictionary(own);
      return listOfValues(pairs(own));
    },
  ],
  join: ['d? attribute?', joined],
  last: ['', (own) => (isText(own) ? made(/.$/su.exec(wordsOf(own))?.[0]) : (listOf(own).at(-1) ?? nothing()))],
  length,
  list: ['', (own) => listOfValues(listOf(own))],
  lower,
  max: ['case_sensitive? attribute?', extreme('max', 1)],
  min: ['case_sensitive? attribute?', extreme('min', -1)],
  replace: [
    'old new count?',
    ofText((text, ...[old, by, count]) =>
      replaced(text, textOf(old as Value), textOf(by as Value), numberOf(count, -1)),
    ),
  ],
  reverse: [
    '',
    (own) => {
      const items = [...listOf(own)].reverse();
      return isText(own) ? made(items.map(textOf).join('')) : listOfValues(items);
    },
  ],
  round: ['precision? method?', rounded],
  safe: ['', safe],
  sort: [
    'reverse? case_sensitive? attribute?',
    (own, reverse, isCase, attribute) => sorted(listOf(own), keyBy('sort', attribute), reverse, isCase),
  ],
  string: ['', ofText((text) => text)],
  title: ['', ofText((text) => text.replace(/[^-\s({[<]+/g, (word) => titled(word)))],
  tojson: ['ensure_ascii? indent? separators? sort_keys?', json],
  trim: ['chars?', ofText(stripped(true, true))],
  unique: ['case_sensitive? attribute?', unique],
  upper,
};

/** A word with its first letter in capitals. */
const titled = (word: string) => {
  const [first = ''] = word;
  return first.toUpperCase() + word.slice(first.length).toLowerCase();
};

function expectDictionary(value: Value): void {
  if (!isDictionary(value)) throw new Error(`${nameOf(value)} is no dictionary`);
}

/** str.find() or str.rfind(), in characters. */
const found = (search: 'indexOf' | 'lastIndexOf'): Method => [
  'part',
  ofText((text, part) => {
    const at = text[search](expectText(part as Value));
    return at < 0 ? at : [...text.slice(0, at)].length;
  }),
];

export const textMethods: Methods = {
  capitalize,
  count: ['part', ofText((text, part) => text.split(expectText(part as Value)).length - 1)],
  endswith: ['parts', ofText((text, parts) => textsOf(parts as Value).some((part) => text.endsWith(part)))],
  find: found('indexOf'),
  join: [
    'parts',
    ofText((text, parts) => {
      const each = listOf(parts as Value).map(expectText);
      expectRoom(text, each.length);
      return each.join(text);
    }),
  ],
  lower,
  lstrip: ['chars?', ofText(stripped(true, false))],
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
  rstrip: ['chars?', ofText(stripped(false, true))],
  split: ['sep? maxsplit?', ofText(split)],
  splitlines: ['', ofText(linesOf)],
  startswith: ['parts', ofText((text, parts) => textsOf(parts as Value).some((part) => text.startsWith(part)))],
  strip: ['chars?', ofText(stripped(true, true))],
  title: ['', ofText((text) => text.replace(/\p{L}+/gu, capitalized))],
  upper,
};

export const dictionaryMethods: Methods = {
  get: [
    'key default?',
    (own, key, value) =>
      entriesOf(own).get(keyIn(entriesOf(own), key?.value)) ?? (value && isDefined(value) ? value : made(null)),
  ],
  items: ['', (own) => asKind(listOfValues(pairs(own)), 'dict_items')],
  keys: ['', (own) => asKind(listOfValues(listOf(own)), 'dict_keys')],
  values: ['', (own) => asKind(listOfValues([...entriesOf(own).values()]), 'dict_values')],
};
