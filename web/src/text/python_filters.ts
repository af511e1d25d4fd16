// Jinja's filters of single values. Those that call other filters, or tests, are the interpreter's (python_expressions.ts).

import {
  attributeOf,
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
  stripped,
} from './python_builtins.js';
import { escaped, safe } from './python_markup.js';
import {
  capitalize,
  filled,
  lower,
  type Method,
  type Methods,
  methodsOf,
  ofText,
  pairsOf,
  upper,
} from './python_methods.js';
import {
  asKind,
  float,
  isDefined,
  isDictionary,
  isList,
  isNumber,
  isText,
  isTrue,
  itemsOf,
  jsonOf,
  listOfValues,
  made,
  nameOf,
  textOf,
  type Value,
  wordsOf,
} from './python_values.js';

const isSet = (value: Value | undefined): boolean => value !== undefined && isTrue(value);
const nothing = (): Value => made(undefined);

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
/** Items in lists of a size; with a filling the last one, too. */
function batched(own: Value, size: Value, filling: Value): Value {
  const [items, count] = [listOf(own), expectNumber(size)];
  if (!(count >= 1)) throw new Error('batch: a batch has one item or more');
  expectRoom(' ', count);
  const batches = Array.from({ length: Math.ceil(items.length / count) }, (_, i) =>
    items.slice(i * count, (i + 1) * count),
  );
  const last = batches.at(-1);
  while (orNothing(filling) && last && last.length < count) last.push(filling);
  return listOfValues(batches.map(listOfValues));
}

/** Items in so many lists, of which the first ones are the longer; with a filling the others get one. */
function slices(own: Value, given: Value, filling: Value): Value {
  const [items, count] = [listOf(own), expectNumber(given)];
  if (!(count >= 1)) throw new Error('slice: there is one list or more');
  expectRoom(' ', count);
  const [size, more] = [Math.floor(items.length / count), items.length % count];
  const lists = Array.from({ length: count }, (_, i) => {
    const start = i * size + Math.min(i, more);
    const list = items.slice(start, start + size + (i < more ? 1 : 0));
    return listOfValues(orNothing(filling) && i >= more ? [...list, filling] : list);
  });
  return listOfValues(lists);
}

/** An attribute, which an item of a dictionary is not. */
function attribute(own: Value, name: Value): Value {
  const key = textOf(name);
  if (Object.hasOwn(methodsOf(own), key)) throw new Error(`attr: ${key} is a method`);
  return isDictionary(own) ? nothing() : attributeOf(own, key);
}

/** What may stand in a URL's path, or in its query. */
const quoted = (text: string, isQuery = false): string => {
  const found = encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return isQuery ? found.replaceAll('%20', '+') : found.replaceAll('%2F', '/');
};

function urlEncoded(own: Value): Value {
  if (!isDictionary(own) && !isList(own)) return made(quoted(textOf(own)));
  const pairs = isDictionary(own) ? pairsOf(own) : itemsOf(own);
  return made(
    pairs
      .map((pair) =>
        listOf(pair)
          .map((each) => quoted(textOf(each), true))
          .join('='),
      )
      .join('&'),
  );
}

const leeway = 5; // characters that a text may be longer

function truncated(own: Value, ...[given, isWhole, mark, room]: Value[]): Value {
  const [all, end] = [listOf(own), orNothing(mark) ? textOf(mark as Value) : '...'];
  const most = numberOf(given, 255);
  if (all.length <= most + numberOf(room, leeway)) return own;
  const kept = [...expectText(own)].slice(0, Math.max(0, most - [...end].length)).join('');
  const space = kept.lastIndexOf(' ');
  return made((isSet(isWhole) || space < 0 ? kept : kept.slice(0, space)) + end);
}

export const filters: Methods = {
  abs: ['', (own) => (own.type === 'float' ? float : made)(Math.abs(expectNumber(own)))],
  attr: ['name', attribute],
  batch: ['linecount fill_with?', batched],
  capitalize,
  center: ['width?', ofText((text, width) => filled('both')(text, orNothing(width) ?? made(80)))],
  count: length,
  d: usual,
  default: usual,
  dictsort: [
    'case_sensitive? by? reverse?',
    (own, isCase, by, reverse) => {
      expectDictionary(own);
      return sorted(pairsOf(own), (pair) => attributeOf(pair, textOf(by) === 'value' ? '1' : '0'), reverse, isCase);
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
      return listOfValues(pairsOf(own));
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
  slice: ['slices fill_with?', slices],
  sort: [
    'reverse? case_sensitive? attribute?',
    (own, reverse, isCase, attribute) => sorted(listOf(own), keyBy('sort', attribute), reverse, isCase),
  ],
  string: ['', ofText((text) => text)],
  title: ['', ofText((text) => text.replace(/[^-\s({[<]+/g, (word) => titled(word)))],
  tojson: ['ensure_ascii? indent? separators? sort_keys?', json],
  truncate: ['length? killwords? end? leeway?', truncated],
  trim: ['chars?', ofText(stripped(true, true))],
  unique: ['case_sensitive? attribute?', unique],
  upper,
  urlencode: ['', urlEncoded],
  wordcount: ['', ofText((text) => text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0)],
};

/** A word with its first letter in capitals. */
const titled = (word: string) => {
  const [first = ''] = word;
  return first.toUpperCase() + word.slice(first.length).toLowerCase();
};

function expectDictionary(value: Value): void {
  if (!isDictionary(value)) throw new Error(`${nameOf(value)} is no dictionary`);
}
