// The common progress of the model's files and the others. It starts when all sizes are known, so that the total
// never changes.

import { Progress, type ProgressCallback, type ProgressInfo } from '../checkpoint/progress.js';

export class JointProgress {
  readonly #name: string;
  readonly #tell: ProgressCallback | undefined;
  readonly #sizes = new Map<string, number>();
  readonly #loaded = new Map<string, number>();
  readonly #early: ProgressInfo[] = [];
  #beside: ReadonlyMap<string, number> | undefined;
  #joint: Progress | undefined;

  constructor(name: string, tell: ProgressCallback | undefined) {
    this.#name = name;
    this.#tell = tell;
  }

  /** Receives the model's own progress events. */
  readonly ofModel: ProgressCallback = (event) => {
    if (event.status === 'ready') return; // ready only when both are
    if (event.status === 'initiate') this.#sizes.set(event.file as string, event.file_total ?? 0);
    else if (this.#joint === undefined) this.#early.push(event);
    else this.#pass(event);
    // A model announces all its files before the first byte of any.
    if (this.#joint === undefined && event.status !== 'initiate') this.#begin();
  };

  /** Called when the files besides the model have been read, with their sizes by name. */
  besideModel(sizes: ReadonlyMap<string, number>): void {
    this.#beside = new Map(sizes);
    if (this.#early.length > 0) this.#begin();
  }

  /** Called when both are loaded. */
  ready(): void {
    this.#joint?.ready();
  }

  #begin(): void {
    if (this.#beside === undefined) return;
    const joint = new Progress(this.#name, new Map([...this.#sizes, ...this.#own()]), this.#tell);
    this.#joint = joint;
    for (const [file, bytes] of this.#own()) {
      joint.add(file, bytes);
      joint.done(file);
    }
    for (const event of this.#early.splice(0)) this.#pass(event);
  }

  /** The other files, without those that the model reads as well. */
  #own(): [string, number][] {
    return [...(this.#beside ?? [])].filter(([file]) => !this.#sizes.has(file));
  }

  #pass({ status, file = '', file_loaded = 0 }: ProgressInfo): void {
    if (status === 'done') {
      this.#joint?.done(file);
      return;
    }
    this.#joint?.add(file, file_loaded - (this.#loaded.get(file) ?? 0));
    this.#loaded.set(file, file_loaded);
  }
}
