// Keys and values of processed positions, kept in the core's memory for the next call.

import type { Handle } from '../runtime/border.js';
import { type Engine, releaseHandle } from '../runtime/engine.js';
import { ClearformerError } from '../support/error.js';
import { expectArgument, refusedOption } from '../support/options.js';
import { asyncDisposeSymbol, disposeSymbol, Lease } from '../support/resource.js';

/** Size of a cache: sequences, positions, capacity in positions, bytes. */
export interface KeyValueCacheInfo {
  batch: number;
  length: number;
  capacity: number;
  bytes: number;
}

/** @internal A cache in a model's memory. */
export interface Held {
  engine: Engine;
  handle: Handle;
}

let isCache: (value: unknown) => boolean;

/**
 * `past_key_values`: pass it to the next call of the same model, which extends it in place. An empty one, created with
 * `new`, is filled by the first call it is passed to.
 */
export class KeyValueCache {
  readonly #place: { held?: Held } = {};
  readonly #lease = new Lease('this key/value cache', this, releasing(this.#place));
  /** @internal While a call fills it: settles then. */
  filling: Promise<void> | undefined;

  constructor();
  /** @internal */
  constructor(engine: Engine, handle: Handle);
  constructor(engine?: Engine, handle?: Handle) {
    const isOurs = engine === undefined || (typeof engine === 'object' && typeof engine?.call === 'function');
    expectArgument('new DynamicCache', isOurs, 'no arguments', engine);
    if (engine && handle) this.fill(engine, handle);
  }

  static {
    isCache = (value) => #place in Object(value);
  }

  /** @internal Whether it is still empty. */
  get isEmpty(): boolean {
    return !this.#place.held;
  }

  /** @internal Stores what a call with an empty one creates; others wait for that. */
  fillWith(engine: Engine, call: Promise<{ past_key_values?: Handle | undefined }>): Promise<void> {
    this.filling = call
      .then(
        ({ past_key_values: handle }) => void (handle && this.fill(engine, handle)),
        () => {}, // the call itself rejects, and the cache is as empty as before
      )
      .finally(() => {
        this.filling = undefined;
      });
    return this.filling;
  }

  /**
   * @internal Stores the cache created by a call with an empty one. Throws `invalid_argument` if another call did
   * meanwhile.
   */
  fill(engine: Engine, handle: Handle): void {
    if (!this.isEmpty || this.#lease.released) void releaseHandle(engine, handle);
    if (!this.isEmpty) throw refused('another call has filled this cache meanwhile');
    this.#place.held = { engine, handle };
  }

  /**
   * @internal The handle for a call on `engine`, undefined if empty; throws `invalid_argument` for another model's
   * cache.
   */
  handleFor(engine: Engine): Handle | undefined {
    const { held } = this;
    if (held && engine !== held.engine) throw refused('this cache belongs to another model');
    return held?.handle;
  }

  /** Its size. */
  async info(): Promise<KeyValueCacheInfo> {
    const held = await this.#settled();
    if (!held) return { batch: 0, length: 0, capacity: 0, bytes: 0 };
    return held.engine.call('cache_info', { cache: held.handle });
  }

  /** Number of positions. */
  async get_seq_length(): Promise<number> {
    return (await this.info()).length;
  }

  /**
   * Drops all positions from `length` on. Rejects with `unsupported`, naming the layer, if one has not kept what
   * it had so far back: a convolution (LFM2) more than 256 positions before the latest call, of which those count that
   * earlier crops have gone back; a delta rule (Qwen3.5) any but that call's beginning. 0 is always possible.
   */
  async crop(length: number): Promise<void> {
    const held = await this.#settled();
    await held?.engine.call('cache_crop', { cache: held.handle, length });
  }

  async #settled(): Promise<Held | undefined> {
    while (this.filling) await this.filling;
    return this.held;
  }

  /** @internal The cache in the core's memory, undefined if it is empty. */
  get held(): Held | undefined {
    this.#lease.check();
    return this.#place.held;
  }

  /** Releases its memory in the core. */
  dispose(): Promise<void> {
    return this.#lease.release();
  }
  /** For `using`: disposes without waiting. */
  [disposeSymbol](): void {
    void this.dispose();
  }
  /** For `await using`: the same as dispose(). */
  [asyncDisposeSymbol](): Promise<void> {
    return this.dispose();
  }
}

/** Made here, where it does not hold the cache: one that is forgotten is released, too. */
const releasing = (place: { held?: Held }) => async () => {
  if (place.held) await releaseHandle(place.held.engine, place.held.handle);
};

const refused = (why: string) => new ClearformerError('invalid_argument', `past_key_values: ${why}`);

/** Throws `invalid_argument` for no cache: a proxy of one, or what merely inherits, has none of its fields. */
export function expectCache(call: string, value: unknown): asserts value is KeyValueCache {
  if (!isCache(value)) throw refusedOption(call, 'past_key_values', 'is no cache of an earlier call');
}
