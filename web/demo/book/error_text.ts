// An error as the page shows it: its kind and a way out in the reader's language, and the message of whoever threw it, unchanged.

import { ClearformerError } from 'clearformer';
import type { ShellWords } from '../words/en/shell.js';

interface ErrorText {
  title: string;
  /** What the reader can do about it; empty where there is nothing to say. */
  advice: string;
  message: string;
  /** The typed code, for whoever looks it up; empty for errors that have none. */
  code: string;
}

export function errorText(error: unknown, { errors }: ShellWords): ErrorText {
  if (error instanceof ClearformerError) {
    return { ...errors[error.code], message: error.message, code: error.code };
  }
  return { ...errors.other, message: error instanceof Error ? error.message : String(error), code: '' };
}
