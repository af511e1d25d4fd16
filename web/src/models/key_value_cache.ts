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

/** What a cache holds in a model's memory. */
interface Held {
  engine: Engine;
  handle: Handle;
  lease: Lease;
}

/**
 * `past_key_values`: pass it to the next call of the same model, which extends it in place. An empty one, made with `new`,
 * is filled by the first call it is passed to.
 */
export class KeyValueCache {
  #held: Held | undefined;

  constructor();
  /** @internal */
  constructor(engine: Engine, handle: Handle);
  constructor(engine?: Engine, handle?: Handle) {
    if (engine !== undefined && handle !== undefined) this.fill(engine, handle);
  }

  /** @internal Nothing was read into it yet. */
  get isEmpty(): boolean {
    return this.#held === undefined;
  }

  /** @internal What a call with an empty cache has made. */
  fill(engine: Engine, handle: Handle): void {
    const lease = new Lease('this key/value cache', this, () => releaseHandle(engine, handle));
    this.#held = { engine, handle, lease };
  }

  /** @internal The handle, for a call on `engine`, undefined of an empty cache; another model's throws `invalid_argument`. */
  handleFor(engine: Engine): Handle | undefined {
    if (this.#held === undefined) return undefined;
    this.#held.lease.check();
    if (engine !== this.#held.engine)
      throw new ClearformerError('invalid_argument', 'past_key_values: this cache belongs to another model');
    return this.#held.handle;
  }

  /** How many tokens it holds, and how many bytes. */
  async info(): Promise<KeyValueCacheInfo> {
    if (this.#held === undefined) return { batch: 0, length: 0, capacity: 0, bytes: 0 };
    const { engine, handle, lease } = this.#held;
    lease.check();
    return engine.call('cache_info', { cache: handle });
  }

  /** How many positions it holds. */
  async get_seq_length(): Promise<number> {
    return (await this.info()).length;
  }

  /** Forgets all positions from `length` on. */
  async crop(length: number): Promise<void> {
    if (this.#held === undefined) return;
    const { engine, handle, lease } = this.#held;
    lease.check();
    await engine.call('cache_crop', { cache: handle, length });
  }

  /** Gives the memory back to the core. */
  async dispose(): Promise<void> {
    await this.#held?.lease.release();
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
