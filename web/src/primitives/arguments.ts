// Checks of plain arguments: what the types say must hold for callers without types, too.

import type { PlainOptions } from '../runtime/border.js';
import { ClearformerError, textOf } from '../support/error.js';

/** `value`, if float32 can hold it; `invalid_argument` otherwise. */
export function finite(call: string, option: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(Math.fround(value))) return value;
  throw refused(call, option, 'a number', value);
}

/** `value`, a whole number of 32 bits from `least` on; `invalid_argument` otherwise. */
export function whole(call: string, option: string, value: unknown, least: number): number {
  if (typeof value === 'number' && (value | 0) === value && value >= least) return value;
  throw refused(call, option, `a whole number from ${least}`, value);
}

/** All of `given`, whole numbers from `least` on; one that is undefined stays so. */
export function sizes<T extends Record<string, number | undefined>>(call: string, given: T, least = 0): T {
  for (const [name, value] of Object.entries(given)) if (value !== undefined) whole(call, name, value, least);
  return given;
}

/** `value`, or false when it is absent; `invalid_argument` for anything but true and false. */
export function flagged(call: string, option: string, value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  throw refused(call, option, 'true or false', value);
}

/** Options as JSON passes them; `invalid_argument` for a value that it would lose: NaN, functions, bigint. */
export function plain(call: string, options: object): PlainOptions {
  return JSON.parse(
    JSON.stringify(options, (option, value: unknown) => {
      const kept = typeof value === 'number' ? Number.isFinite(value) : kinds.includes(typeof value);
      if (kept) return value;
      throw refused(call, option, 'a plain value', value);
    }),
  );
}

const kinds = ['boolean', 'string', 'object', 'undefined'];

function refused(call: string, option: string, rule: string, value: unknown): ClearformerError {
  return new ClearformerError('invalid_argument', `${call}: ${option} must be ${rule}, it is ${textOf(value)}`, {
    option,
  });
}
