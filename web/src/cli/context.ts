// What every command works with.

import type { Output } from './output.js';
import type { ProgressBar } from './progress_bar.js';

export interface Context {
  readonly output: Output;
  readonly progress: ProgressBar;
  /** Aborted by Ctrl-C, and when standard output cannot be written. */
  readonly signal: AbortSignal;
  /** Says something beside the result, on standard error. */
  note(line: string): void;
}
