// The context of all commands.

import type { Output } from './output.js';
import type { ProgressBar } from './progress_bar.js';

export interface Context {
  readonly output: Output;
  readonly progress: ProgressBar;
  /** Aborted by Ctrl-C, and when standard output cannot be written. */
  readonly signal: AbortSignal;
  /** Prints a message on standard error. */
  note(line: string): void;
}
