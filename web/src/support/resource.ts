// Releases memory outside JavaScript's heap: dispose(), `using` and `await using`.

/// <reference lib="esnext.disposable" preserve="true" />

import { ClearformerError } from './error.js';

// Engines without explicit resource management get the symbols used by transpilers.
/** `Symbol.dispose`, or its usual substitute in engines without it. */
export const disposeSymbol: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
/** `Symbol.asyncDispose`, or its usual substitute in engines without it. */
export const asyncDisposeSymbol: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/** Releases a resource exactly once, however often it is asked to. */
export class Lease {
  #release: (() => Promise<void>) | undefined;
  readonly #what: string;

  /** `what` names the resource in errors; `release` must not reject or refer to the lease's owner. */
  constructor(what: string, owner: object, release: () => Promise<void>) {
    this.#what = what;
    this.#release = release;
    forgotten.register(owner, release, this);
  }

  get released(): boolean {
    return this.#release === undefined;
  }

  /** Throws `disposed` after the resource was released. */
  check(): void {
    if (this.released) throw new ClearformerError('disposed', `${this.#what} was disposed`);
  }

  async release(): Promise<void> {
    const release = this.#release;
    if (release === undefined) return;
    this.#release = undefined;
    forgotten.unregister(this);
    await release();
  }
}

// If an owner is garbage collected without dispose(), the resource is released eventually.
const forgotten = new FinalizationRegistry<() => Promise<void>>((release) => void release());
