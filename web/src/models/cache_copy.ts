// Copies keys and values: for passes that go on from the same text in different ways.

import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { expectCache, KeyValueCache } from './key_value_cache.js';

/** What `copyCache` takes of a cache. */
export interface KeyValueCachePart {
  /** Indices of sequences, which may repeat. Default: all. */
  rows?: readonly number[] | undefined;
  /** The number of positions from the first on. Default: all. */
  length?: number | undefined;
}

/**
 * A copy of `past_key_values`, or of a part of it, for calls that go on from the same text in different ways. Rejects
 * with `invalid_argument` for what it does not hold, `unsupported` as `crop` does, `disposed`, `out_of_memory`.
 */
export async function copyCache(cache: KeyValueCache, part: KeyValueCachePart = {}): Promise<KeyValueCache> {
  checkOptions('copyCache', part, ['rows', 'length']);
  expectCache('copyCache', cache);
  return partOf(cache, part, { first_layer: 0, more: 0 });
}

/** @internal The layers from `first_layer` on of a part, with room for `more` positions. */
export async function partOf(
  cache: KeyValueCache,
  part: KeyValueCachePart,
  use: { first_layer: number; more: number },
): Promise<KeyValueCache> {
  const { batch, length: all } = await cache.info(); // waits for a call that fills it
  const { held } = cache;
  if (!held) return new KeyValueCache();
  const { engine, handle } = held;
  const { rows = Array.from({ length: batch }, (_, row) => row), length = all } = part;
  if (!Array.isArray(rows) || rows.length === 0 || !rows.every((row) => Number.isSafeInteger(row) && row >= 0)) {
    throw new ClearformerError('invalid_argument', 'copyCache: rows needs indices of sequences', { option: 'rows' });
  }
  const copied = await engine.call('cache_copy', { cache: handle, rows: [...rows], length, ...use });
  return new KeyValueCache(engine, copied.cache);
}
