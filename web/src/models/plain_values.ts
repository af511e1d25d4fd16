// What is given as options and by callbacks, as plain values and lists.

import type { OptionValue } from '../runtime/border.js';
import { textOf } from '../support/error.js';
import { refusedOption } from '../support/options.js';
import { isTensor } from '../tensor/tensor.js';

/** A value for the core: typed arrays, and tensors with one axis, are lists; ids may be bigints, alone and in lists. */
export function plainValue(value: unknown, option = '_id'): OptionValue {
  if (value === null || ['boolean', 'string'].includes(typeof value)) return value as OptionValue;
  const number = typeof value === 'bigint' && option.endsWith('_id') ? Number(value) : value;
  if (Number.isFinite(number)) return number as number;
  const list = elementsOf(isTensor(value) && value.dims.length === 1 ? value.data : value);
  return list?.map((one) => plainValue(one)) ?? textOf(value); // the core refuses it, and knows the options
}

/** What a criterion says of each of `count` rows: one answer for all, or a list or tensor with one for each. */
export function answersOf(call: string, given: unknown, count: number): readonly boolean[] {
  const list = typeof given === 'boolean' ? Array(count).fill(given) : elementsOf(isTensor(given) ? given.data : given);
  if (list?.length === count) return list.map(Boolean);
  const rule = `must give a boolean, or one for each of ${count} rows`;
  throw refusedOption(call, 'stopping_criteria', `${rule}, got ${textOf(given)}`);
}

/** The elements of an array or typed array; undefined for anything else. */
function elementsOf(list: unknown): unknown[] | undefined {
  return Array.isArray(list) || (ArrayBuffer.isView(list) && Symbol.iterator in list)
    ? Array.from(list as unknown[])
    : undefined;
}
