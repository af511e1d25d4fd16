// Progress over several files: the total is known before the first byte of weights arrives.

/**
 * `initiate`: a file is about to be read; `progress`: bytes arrived; `done`: the file is complete; `ready`: all is
 * loaded.
 */
export interface ProgressInfo {
  status: 'initiate' | 'progress' | 'done' | 'ready';
  /** The source, as in error messages. */
  name: string;
  /** The file concerned; absent for `ready`. */
  file?: string;
  /** Bytes of all files: read so far, and in total. `loaded` never decreases, `total` never changes. */
  loaded: number;
  total: number;
  /** 100 · loaded / total. */
  progress: number;
  /** Bytes of this file. */
  file_loaded?: number;
  file_total?: number;
}

/** Called while files are read. */
export type ProgressCallback = (event: ProgressInfo) => void;

/** Counts the bytes of a set of files and notifies the callback. */
export class Progress {
  readonly #name: string;
  readonly #tell: ProgressCallback | undefined;
  readonly #sizes: ReadonlyMap<string, number>;
  readonly #total: number;
  readonly #loaded = new Map<string, number>();

  constructor(name: string, sizes: ReadonlyMap<string, number>, tell: ProgressCallback | undefined) {
    this.#name = name;
    this.#sizes = sizes;
    this.#tell = tell;
    this.#total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    for (const file of sizes.keys()) this.#send('initiate', file);
  }

  /** `bytes` more of the file have arrived. */
  add(file: string, bytes: number): void {
    this.#loaded.set(file, (this.#loaded.get(file) ?? 0) + bytes);
    this.#send('progress', file);
  }

  done(file: string): void {
    this.#loaded.set(file, this.#sizes.get(file) ?? 0);
    this.#send('done', file);
  }

  ready(): void {
    this.#send('ready');
  }

  /** All files are read, and what they are for is ready. */
  whole(): void {
    for (const [file, bytes] of this.#sizes) {
      this.add(file, bytes);
      this.done(file);
    }
    this.ready();
  }

  #send(status: ProgressInfo['status'], file?: string): void {
    if (this.#tell === undefined) return;
    const loaded = [...this.#loaded.values()].reduce((sum, bytes) => sum + bytes, 0);
    const total = this.#total;
    const event: ProgressInfo = {
      status,
      name: this.#name,
      loaded,
      total,
      progress: total === 0 ? 100 : (100 * loaded) / total,
    };
    if (file !== undefined) {
      event.file = file;
      event.file_loaded = this.#loaded.get(file) ?? 0;
      event.file_total = this.#sizes.get(file) ?? 0;
    }
    this.#tell(event);
  }
}
