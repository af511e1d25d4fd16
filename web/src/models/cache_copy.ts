// Copies keys and values: for passes that go on from the same text in different ways.

import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { KeyValueCache, type KeyValueCachePart } from './key_value_cache.js';

/** What a pass needs of a copy: the layers from this one on, room for so many more positions. */
interface Use {
  first_layer: number;
  more: number;
}

/** See KeyValueCache.copy. */
export async function copyOf(
  cache: KeyValueCache,
  part: KeyValueCachePart,
  use: Use = { first_layer: 0, more: 0 },
): Promise<KeyValueCache> {
  checkOptions('copy', part, ['rows', 'length']);
  const { held } = cache;
  if (held === undefined) return new KeyValueCache();
  const { engine, handle } = held;
  const { batch, length: all } = await cache.info();
  const { rows = Array.from({ length: batch }, (_, row) => row), length = all } = part;
  if (!Array.isArray(rows) || rows.length === 0 || !rows.every((row) => Number.isSafeInteger(row) && row >= 0)) {
    throw new ClearformerError('invalid_argument', 'copy: rows needs indices of sequences', { option: 'rows' });
  }
  const copied = await engine.call('cache_copy', { cache: handle, rows: [...rows], length, ...use });
  return new KeyValueCache(engine, copied.cache);
}
