// An error as the page shows it: its kind and a remedy in the reader's language, and the original message unchanged.

import { ClearformerError } from 'clearformer';
import type { ShellWords } from '../words/en/shell.js';

interface ErrorText {
  title: string;
  /** What the reader can do; empty if nothing. */
  advice: string;
  message: string;
  /** The error's code, for a bug report or a search; empty for errors without one. */
  code: string;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function errorText(error: unknown, { errors }: ShellWords): ErrorText {
  if (error instanceof ClearformerError) {
    const { code, message } = error;
    const ofTheBrowser = code === 'unsupported' && message.startsWith('this engine'); // not of the model
    return { ...errors[ofTheBrowser ? 'wasm_unavailable' : code], message, code };
  }
  return { ...errors.other, message: messageOf(error), code: '' };
}
