// Cached downloads: listCache() lists them, clearCache() removes them. Their code is loaded on the first call.

import { remoteHost } from '../support/config.js';
import { ClearformerError, textOf, unreadable } from '../support/error.js';
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
  const { browserCache, cachePlace, listResponses } = await import('./response_store.js');
  const models = new Map<string, CachedModel>();
  const cache = await browserCache();
  for (const { href, bytes, complete } of cache ? await listResponses(cache).catch(damaged(cachePlace)) : []) {
    const { source, revision, file } = partsOf(href);
    const model = models.get(source) ?? { source, where: cachePlace, bytes: 0, files: [] };
    model.bytes += bytes;
    model.files.push({ file, revision, bytes, complete });
    models.set(source, model);
  }
  return [...models.values()];
}

/**
 * Removes the cached downloads of one source, or of all. Resolves to the number of bytes freed. On disk a `source` is
 * removed with its whole folder; without one, Python's downloads are kept.
 */
export async function clearCache(options: CacheClearOptions = {}): Promise<number> {
  const cache_dir = checked('clearCache', options, ['cache_dir', 'source']);
  const { source } = options;
  if (isNode()) return (await import('./disk_listing.js')).clearDisk(source, cache_dir);
  const { browserCache, cachePlace, clearResponses } = await import('./response_store.js');
  const isMeant = (href: string) => source === undefined || partsOf(href).source === source;
  const cache = await browserCache();
  return cache ? clearResponses(cache, isMeant).catch(damaged(cachePlace)) : 0;
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

const damaged = (where: string) => (cause: unknown) => {
  throw unreadable(where, { where }, cause);
};

/** Splits a file's address into source, revision and name, for the Hub or any other folder. */
function partsOf(href: string): { source: string; revision: string; file: string } {
  const host = `${remoteHost()}/`;
  const [, source, revision, file] =
    (href.startsWith(host) && /^([\w.-]+(?:\/[\w.-]+)?)\/resolve\/([^/]+)\/([^?]+)/.exec(href.slice(host.length))) ||
    [];
  if (source !== undefined && revision !== undefined && file !== undefined)
    return { source, revision: decodeURIComponent(revision), file: decodeURIComponent(file) };
  const { pathname } = new URL(href);
  const name = pathname.slice(pathname.lastIndexOf('/') + 1);
  return { source: new URL('.', href).href, revision: '', file: decodeURIComponent(name) };
}
