// Errors about the options and texts of a tokenizer's calls.

import { ClearformerError, textOf } from '../support/error.js';

/** The error for an invalid option. */
export function invalid(option: string, why: string): ClearformerError {
  return new ClearformerError('invalid_argument', `tokenizer: ${why}`, { option });
}

/** A caller's value in a message, texts in quotes. */
export const shown = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : textOf(value));
