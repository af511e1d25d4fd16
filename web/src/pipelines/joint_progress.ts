// One progress over the model's files and those beside it. It begins when the sizes of all are known, so that the total
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

  /** Takes what the model's own progress tells. */
  readonly ofModel: ProgressCallback = (event) => {
    if (event.status === 'ready') return; // only both together are ready
    if (event.status === 'initiate') this.#sizes.set(event.file as string, event.file_total ?? 0);
    else if (this.#joint === undefined) this.#early.push(event);
    else this.#pass(event);
    // A model tells of all its files before the first byte of any.
    if (this.#joint === undefined && event.status !== 'initiate') this.#begin();
  };

  /** The files beside the model are all read; their sizes by name. */
  besideModel(sizes: ReadonlyMap<string, number>): void {
    this.#beside = new Map(sizes);
    if (this.#early.length > 0) this.#begin();
  }

  /** Both are loaded. */
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

  /** What is beside the model, without files that the model reads, too. */
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
