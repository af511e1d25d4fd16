// Trains towards the state that the address asks for: settings, a number of steps, heads that are silent. Stops while
// the page is hidden. The model last trained with other settings is kept, so that the reader can compare.
// Dispatches 'change' after measurements and at the end.

import type { Settings } from './recipe.js';
import { interval, type Place, Run } from './run.js';

export interface Aim {
  readonly settings: Settings;
  readonly steps: number;
  /** Heads of the model to ablate once the steps are done. */
  readonly off: readonly Place[];
}

const kept = 2;
const keyOf = (settings: Settings): string => JSON.stringify(settings);
const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

export class Trainer extends EventTarget {
  /** The model of the settings asked for, once it has been measured. */
  run: Run | undefined;
  failure: unknown;
  readonly #runs = new Map<string, Run>();
  #aim: Aim | undefined;
  #working: Promise<void> | undefined;

  constructor() {
    super();
    document.addEventListener('visibilitychange', this.#goOn);
  }

  /** Whether steps are being made. */
  get training(): boolean {
    return this.#working !== undefined && (this.run?.step ?? 0) < (this.#aim?.steps ?? 0);
  }

  /** Goes on from where it is; fewer steps than done, or other settings, begin anew. */
  aim(aim: Aim): void {
    this.#aim = aim;
    this.failure = undefined;
    this.#goOn();
  }

  /** Stops after the step under way; what is there is kept. */
  stop(): void {
    this.#aim = undefined;
  }

  /** A file of the model as it is now; undefined after a failure. */
  async file(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      return (await this.run?.files())?.[name];
    } catch (error) {
      this.failure = error;
      this.dispatchEvent(new Event('change'));
      return undefined;
    }
  }

  /** Resolves when nothing is left to do. */
  async done(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  /** Releases the models and their workers. */
  async dispose(): Promise<void> {
    document.removeEventListener('visibilitychange', this.#goOn);
    this.stop();
    await this.done();
    await Promise.all([...this.#runs.values()].map((run) => run.dispose()));
    this.#runs.clear();
  }

  #goOn = (): void => {
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      this.dispatchEvent(new Event('change'));
    });
  };

  async #work(): Promise<void> {
    try {
      while (this.#aim && !document.hidden && (await this.#advance(this.#aim)));
    } catch (error) {
      this.failure = error;
    }
  }

  /** Does the next piece of work, of at most some steps' time; false if there is none. */
  async #advance({ settings, steps, off }: Aim): Promise<boolean> {
    const run = this.#runs.get(keyOf(settings));
    if (!run || run.step > steps) {
      await this.#begin(settings);
      return true;
    }
    if (run !== this.run) this.#show(run);
    if (run.step < steps) {
      await run.train();
      if (run.step % interval > 0) return true;
    }
    if (!run.measured) {
      await run.measure();
    } else if (!same(run.opened?.off, off)) {
      await run.open(off);
    } else return false;
    this.#show(run);
    return true;
  }

  async #begin(settings: Settings): Promise<void> {
    const begun = await Run.start(settings);
    const key = keyOf(settings);
    const other = [...this.#runs.values()].find((run) => run !== this.run);
    const left = this.#runs.get(key) ?? (this.#runs.size < kept ? undefined : other);
    if (left) this.#runs.delete(keyOf(left.settings));
    this.#runs.set(key, begun);
    if (left && left === this.run) this.#show(begun); // none that is shown is let go
    await left?.dispose();
  }

  #show(run: Run): void {
    this.run = run;
    this.dispatchEvent(new Event('change'));
  }
}
