// What holds memory outside JavaScript's heap, and how it is given back: dispose(), `using` and `await using`.

/// <reference lib="esnext.disposable" preserve="true" />

import { ClearformerError } from './error.js';

// Engines without explicit resource management get the symbols that transpilers look for.
/** `Symbol.dispose`, or its usual stand-in where the engine has none. */
export const disposeSymbol: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
/** `Symbol.asyncDispose`, or its usual stand-in where the engine has none. */
export const asyncDisposeSymbol: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/** Gives something back once, however often and from wherever it is asked to. */
export class Lease {
  #release: (() => Promise<void>) | undefined;
  readonly #what: string;

  /** `what` names the thing in errors; `release` must not reject and must not refer to the lease's owner. */
  constructor(what: string, owner: object, release: () => Promise<void>) {
    this.#what = what;
    this.#release = release;
    forgotten.register(owner, release, this);
  }

  get released(): boolean {
    return this.#release === undefined;
  }

  /** Throws `disposed` once the thing was given back. */
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

// An owner that became garbage without dispose() is given back all the same, at the engine's leisure.
const forgotten = new FinalizationRegistry<() => Promise<void>>((release) => void release());
