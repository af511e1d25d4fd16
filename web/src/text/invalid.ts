// Errors about the options and texts of a tokenizer's calls.

import { ClearformerError } from '../support/error.js';

/** The error for an invalid option. */
export function invalid(option: string, why: string): ClearformerError {
  return new ClearformerError('invalid_argument', `tokenizer: ${why}`, { option });
}
