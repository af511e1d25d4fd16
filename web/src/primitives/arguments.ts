// Checks of plain arguments: what the types say must hold for callers without types, too.

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

/** `value`, or false when it is absent; `invalid_argument` for anything but true and false. */
export function flagged(call: string, option: string, value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  throw refused(call, option, 'true or false', value);
}

function refused(call: string, option: string, rule: string, value: unknown): ClearformerError {
  return new ClearformerError('invalid_argument', `${call}: ${option} must be ${rule}, it is ${textOf(value)}`, {
    option,
  });
}
