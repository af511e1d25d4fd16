// A progress bar for loading, on standard error if it is a terminal.

import type { ProgressCallback, ProgressInfo } from '../index.js';

const width = 30;
const interval = 100; // milliseconds between updates

/** Draws itself in one line and erases it when loading is complete; does nothing if `stream` is not a terminal. */
export class ProgressBar {
  #drawn = 0;
  #shows = false;

  constructor(private readonly stream: NodeJS.WriteStream) {}

  /** The progress callback for loading a model, a pipeline or a tokenizer. */
  get callback(): ProgressCallback | undefined {
    return this.stream.isTTY ? (event) => this.#tell(event) : undefined;
  }

  /** Erases the line, also when loading fails. */
  clear(): void {
    if (this.#shows) this.stream.write('\r\x1b[K');
    this.#shows = false;
  }

  #tell(event: ProgressInfo): void {
    if (event.status === 'ready') this.clear();
    if (event.status !== 'progress' || Date.now() - this.#drawn < interval) return;
    this.#drawn = Date.now();
    this.#shows = true;
    const room = (this.stream.columns || Infinity) - 1; // of a line that wraps only the last row would be erased
    this.stream.write(`\r${barOf(event).slice(0, room)}\x1b[K`);
  }
}

function barOf({ loaded, total, progress, file = '' }: ProgressInfo): string {
  const full = Math.round((width * progress) / 100);
  const bar = '█'.repeat(full) + '░'.repeat(width - full);
  return `${bar} ${Math.floor(progress)} %  ${megabytes(loaded)} of ${megabytes(total)} MB  ${file}`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
