// Python's arithmetic, and parts of lists and texts.

import { expectRoom, numberOf, orNothing } from './python_builtins.js';
import {
  asKind,
  float,
  integer,
  isList,
  isNumber,
  isText,
  isTuple,
  itemsOf,
  listOfValues,
  made,
  nameOf,
  rangeOf,
  rangeText,
  type Value,
  wordsOf,
} from './python_values.js';

/** Its sign is the divisor's. */
function remainder(one: number, other: number): number {
  const rest = one % other;
  if (rest === 0) return Math.sign(other) * 0;
  return rest > 0 === other > 0 ? rest : rest + other;
}

const calculations: Readonly<Record<string, (one: number, other: number) => number>> = {
  '+': (one, other) => one + other,
  '-': (one, other) => one - other,
  '*': (one, other) => one * other,
  '/': (one, other) => one / other,
  '//': (one, other) => Math.floor(one / other),
  '%': remainder,
  '**': (one, other) => one ** other,
};

/** The result of an operator for numbers or lists: of true as 1 and false as 0. */
export function calculated(operator: string, left: Value, right: Value): Value {
  const calculate = calculations[operator];
  if (calculate && isNumber(left) && isNumber(right)) {
    const [one, other] = [Number(left.value), Number(right.value)];
    if (/^[/%]/.test(operator) && other === 0) throw new Error('division by zero');
    if (operator === '**' && one === 0 && other < 0) throw new Error('0.0 cannot be raised to a negative power');
    const value = calculate(one, other);
    if (operator === '**' && !Number.isFinite(value)) throw new Error(`${one} ** ${other} is no finite number`);
    const isFloat = operator === '/' || (operator === '**' && other < 0);
    return isFloat || [left.type, right.type].includes('float') ? float(value) : integer(value);
  }
  if (operator === '+' && isList(left) && isList(right)) {
    const all = listOfValues([...itemsOf(left), ...itemsOf(right)]);
    return isTuple(left) && isTuple(right) ? asKind(all, 'tuple') : all;
  }
  throw new Error(`${operator} is not for ${nameOf(left)} and ${nameOf(right)}`);
}

/** A number with a sign. */
export function signed(sign: string, value: Value): Value {
  if (!isNumber(value)) throw new Error(`${sign} is not for ${nameOf(value)}`);
  const result = sign === '-' ? -Number(value.value) : Number(value.value);
  return value.type === 'float' ? float(result) : integer(result);
}

/** A text or a list several times. */
export function repeated(whole: Value, times: Value): Value {
  if (times.type === 'float') throw new Error(`${nameOf(whole)} and float cannot be multiplied`);
  const count = Math.max(0, Number(times.value));
  if (isText(whole)) {
    expectRoom(wordsOf(whole), count);
    return made(wordsOf(whole).repeat(count));
  }
  if (!isList(whole)) throw new Error(`${nameOf(whole)} cannot be multiplied`);
  expectRoom(itemsOf(whole), count);
  const all = listOfValues(Array.from({ length: itemsOf(whole).length && count }, () => itemsOf(whole)).flat());
  return isTuple(whole) ? asKind(all, 'tuple') : all;
}

/** `whole[start:stop:step]` of a list, or of a text in code points; what is undefined or None is the usual. */
export function sliced(whole: Value, ...given: readonly [start: Value, stop: Value, step: Value]): Value {
  if (!isList(whole) && !isText(whole)) throw new Error(`${nameOf(whole)} has no slices`);
  const items = isText(whole) ? [...wordsOf(whole)] : itemsOf(whole);
  for (const each of given) if (each.type === 'float') throw new Error('a slice has whole numbers');
  const step = numberOf(given[2], 1);
  if (step === 0) throw new Error('slice step cannot be zero');
  const { length } = items;
  const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
  const place = (value: Value, usual: number) => {
    const at = orNothing(value) ? numberOf(value, 0) : undefined;
    return at === undefined ? usual : Math.min(Math.max(at < 0 ? length + at : at, least), most);
  };
  const [start, stop] = [place(given[0], step > 0 ? least : most), place(given[1], step > 0 ? most : least)];
  const count = Math.max(0, Math.ceil((stop - start) / step));
  const kept = Array.from({ length: count }, (_, i) => items[start + i * step]);
  if (isText(whole)) return made(kept.join(''));
  const part = listOfValues(kept as Value[]);
  const [first, , by = 1] = rangeOf(whole) ?? [];
  if (first !== undefined) return asKind(part, rangeText(first + start * by, first + stop * by, step * by));
  return isTuple(whole) ? asKind(part, 'tuple') : part;
}
