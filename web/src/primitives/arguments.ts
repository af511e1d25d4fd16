// Validates arguments: the declared types must also hold for callers without TypeScript.

import type { PlainOptions } from '../runtime/border.js';
import { type ClearformerError, readable, textOf } from '../support/error.js';
import { refusedOption } from '../support/options.js';

/** Returns `value` if float32 can represent it; throws `invalid_argument` otherwise. */
export function finite(call: string, option: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(Math.fround(value))) return value;
  throw refused(call, option, 'a number', value);
}

/** Returns `value` if it is a 32-bit integer >= `least`; throws `invalid_argument` otherwise. */
export function whole(call: string, option: string, value: unknown, least: number): number {
  if (typeof value === 'number' && (value | 0) === value && value >= least) return value;
  throw refused(call, option, `a whole number from ${least}`, value);
}

/** Validates all of `given` as integers >= `least`; undefined ones are kept. */
export function sizes<T extends Record<string, number | undefined>>(call: string, given: T, least = 0): T {
  for (const [name, value] of Object.entries(given)) if (value !== undefined) whole(call, name, value, least);
  return given;
}

/** Returns `value`, or false if absent; throws `invalid_argument` for anything but a boolean. */
export function flagged(call: string, option: string, value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  throw refused(call, option, 'true or false', value);
}

/**
 * Options that can be serialised as JSON; throws `invalid_argument` for values that JSON would lose: NaN, functions,
 * bigint.
 */
export function plain(call: string, options: object): PlainOptions {
  const kept = (option: string, value: unknown) => {
    if (typeof value === 'number' ? Number.isFinite(value) : kinds.includes(typeof value)) return value;
    throw refused(call, option, 'a plain value', value);
  };
  return JSON.parse(readable(`${call}: an option`, () => JSON.stringify(options, kept)));
}

const kinds = ['boolean', 'string', 'object', 'undefined'];

function refused(call: string, option: string, rule: string, value: unknown): ClearformerError {
  return refusedOption(call, option, `must be ${rule}, it is ${textOf(value)}`);
}
