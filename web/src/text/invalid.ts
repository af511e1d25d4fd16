// Errors about the options and texts of a tokenizer's calls.

import { ClearformerError, textOf } from '../support/error.js';

/** The error for an invalid option. */
export function invalid(option: string, why: string): ClearformerError {
  return new ClearformerError('invalid_argument', `tokenizer: ${why}`, { option });
}

/** Throws for a text longer than a limit; normalizers may make one several times as long. */
export function expectShort(length: number, most = 2 ** 24): void {
  if (length > most) throw invalid('text', `a text of ${length} code units, of ${most}: cut it`);
}

/** A caller's value in a message, texts in quotes. */
export const shown = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : textOf(value));
