// Cached downloads: listCache() lists them, clearCache() removes them. Their code is loaded on the first call.

import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { isNode } from '../support/platform.js';
import type { CachedModel } from './store.js';

/** Which cache to list. */
export interface CacheListOptions {
  /** Node: the folder that was passed as `cache_dir` when the models were loaded. */
  cache_dir?: string | undefined;
}

/** What to remove. */
export interface CacheClearOptions extends CacheListOptions {
  /** The Hub id or the URL of the folder, as listed by `listCache`; by default all sources. */
  source?: string | undefined;
}

/**
 * The models in the browser's cache or, with Node, on disk, including those downloaded by Python. Empty if there is no
 * cache.
 */
export async function listCache(options: CacheListOptions = {}): Promise<CachedModel[]> {
  const cache_dir = checked('listCache', options, ['cache_dir']);
  if (isNode()) return (await import('./disk_listing.js')).listDisk(cache_dir);
  const { inBrowserCache, listResponses } = await import('./response_listing.js');
  return inBrowserCache(listResponses, []);
}

/**
 * Removes the cached downloads of one source, or of all. Resolves to the number of bytes freed. On disk a `source` is
 * removed with its whole folder; without one, Python's downloads are kept. Rejects with `invalid_argument` if something
 * cannot be removed, after everything else is.
 */
export async function clearCache(options: CacheClearOptions = {}): Promise<number> {
  const cache_dir = checked('clearCache', options, ['cache_dir', 'source']);
  const { source } = options;
  if (isNode()) return (await import('./disk_listing.js')).clearDisk(source, cache_dir);
  const { clearResponses, inBrowserCache } = await import('./response_listing.js');
  return inBrowserCache((cache) => clearResponses(cache, source), 0);
}

function checked(call: string, options: CacheClearOptions, known: readonly string[]): string | undefined {
  checkOptions(call, options, known);
  for (const option of ['cache_dir', 'source'] as const) {
    const value = options[option];
    if (value === undefined || (typeof value === 'string' && value !== '')) continue;
    throw new ClearformerError('invalid_argument', `${call}: ${option} is ${textOf(value)}, no text`, { option });
  }
  const { cache_dir } = options;
  if (cache_dir === undefined || isNode()) return cache_dir;
  const message = `${call}: cache_dir: a browser has no folders, but one cache for each site`;
  throw new ClearformerError('unsupported', message, { option: 'cache_dir' });
}
