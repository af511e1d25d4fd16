// Keys and values of the positions a model has read, kept in the core's memory for the next call.

import type { Handle } from '../runtime/border.js';
import { type Engine, releaseHandle } from '../runtime/engine.js';
import { ClearformerError } from '../support/error.js';
import { asyncDisposeSymbol, disposeSymbol, Lease } from '../support/resource.js';

/** Size of a cache: sequences, positions read, positions there is room for, bytes. */
export interface KeyValueCacheInfo {
  batch: number;
  length: number;
  capacity: number;
  bytes: number;
}

/** `past_key_values`: pass it to the next call of the same model, which extends it in place. */
export class KeyValueCache {
  readonly #engine: Engine;
  readonly #handle: Handle;
  readonly #lease: Lease;

  /** @internal */
  constructor(engine: Engine, handle: Handle) {
    this.#engine = engine;
    this.#handle = handle;
    this.#lease = new Lease('this key/value cache', this, () => releaseHandle(engine, handle));
  }

  /** @internal The handle, for a call on `engine`; another model's cache throws `invalid_argument`. */
  handleFor(engine: Engine): Handle {
    this.#lease.check();
    if (engine !== this.#engine)
      throw new ClearformerError('invalid_argument', 'past_key_values: this cache belongs to another model');
    return this.#handle;
  }

  /** How many tokens it holds, and how many bytes. */
  async info(): Promise<KeyValueCacheInfo> {
    return this.#engine.call('cache_info', { cache: this.handleFor(this.#engine) });
  }

  /** Forgets all positions from `length` on. */
  async crop(length: number): Promise<void> {
    await this.#engine.call('cache_crop', { cache: this.handleFor(this.#engine), length });
  }

  /** Gives the memory back to the core. */
  dispose(): Promise<void> {
    return this.#lease.release();
  }
  /** For `using`: disposes without waiting for it. */
  [disposeSymbol](): void {
    void this.dispose();
  }
  /** For `await using`: the same as dispose(). */
  [asyncDisposeSymbol](): Promise<void> {
    return this.dispose();
  }
}
