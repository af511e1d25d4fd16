// Lists and removes what is in the browser's cache.

import { remoteHost } from '../support/config.js';
import { unreadable } from '../support/error.js';
import { browserCache, cacheName, headers, pieceKey } from './response_store.js';
import type { CachedModel } from './store.js';

const where = `the browser's cache '${cacheName}'`;

/** The result of `work` with the browser's cache; `none` if there is no cache. */
export async function inBrowserCache<T>(work: (cache: Cache) => Promise<T>, none: T): Promise<T> {
  const cache = await browserCache();
  if (cache === undefined) return none;
  return work(cache).catch((cause: unknown) => {
    throw unreadable(where, { where }, cause);
  });
}

type Readable = Pick<Cache, 'keys' | 'match'>;

/** All models in a cache. */
export async function listResponses(cache: Readable): Promise<CachedModel[]> {
  const models = new Map<string, CachedModel>();
  for (const { href, bytes, size } of await versionsIn(cache)) {
    const { source, revision, file } = partsOf(href);
    const model = models.get(source) ?? { source, where, bytes: 0, files: [] };
    model.bytes += bytes;
    model.files.push({ file, revision, bytes, complete: bytes >= size });
    models.set(source, model);
  }
  return [...models.values()];
}

interface Version {
  readonly href: string;
  bytes: number;
  /** Infinite as long as its last piece is missing. */
  size: number;
}

/** The versions of files: the one that is kept and the one that is being downloaded. */
async function versionsIn(cache: Readable): Promise<Iterable<Version>> {
  const versions = new Map<string, Version>();
  for (const { url } of await cache.keys()) {
    const found = (await cache.match(url))?.headers;
    if (found === undefined || !found.has(headers.kept)) continue;
    const href = wholeAddress(url);
    const key = `${href} ${found.get(headers.version)}`;
    const version = versions.get(key) ?? { href, bytes: 0, size: Number.POSITIVE_INFINITY };
    version.bytes += Number(found.get(headers.kept));
    if (url === href) version.size = Number(found.get(headers.size));
    versions.set(key, version);
  }
  return versions.values();
}

/** Removes everything cached of a source, or of all. Resolves to the number of bytes. */
export async function clearResponses(
  cache: Pick<Cache, 'keys' | 'match' | 'delete'>,
  source: string | undefined,
): Promise<number> {
  let bytes = 0;
  for (const { url } of await cache.keys()) {
    const href = wholeAddress(url);
    if (source !== undefined && ![partsOf(href).source, folderOf(href)].includes(source)) continue;
    bytes += Number((await cache.match(url))?.headers.get(headers.kept) ?? 0);
    await cache.delete(url);
  }
  return bytes;
}

function wholeAddress(href: string): string {
  const url = new URL(href);
  if (!url.searchParams.has(pieceKey)) return href;
  url.searchParams.delete(pieceKey);
  return url.href;
}

/**
 * Splits a file's address into source, revision and name, for any other folder than the Hub's or one like it the name
 * alone.
 */
function partsOf(href: string): { source: string; revision: string; file: string } {
  const host = remoteHost();
  const { origin, pathname } = new URL(href);
  const path = href.slice(href.startsWith(`${host}/`) ? host.length : origin.length);
  // The host of a load may have a path of its own, which comes before the id.
  const [, source, revision, file] =
    /^(?:\/[^?]*?)??\/([\w.-]+(?:\/[\w.-]+)?)\/resolve\/([^/]+)\/([^?]+)/.exec(path) ?? [];
  if (source !== undefined && revision !== undefined && file !== undefined)
    return { source, revision: decoded(revision), file: decoded(file) };
  return { source: folderOf(href), revision: '', file: decoded(pathname.slice(pathname.lastIndexOf('/') + 1)) };
}

const folderOf = (href: string) => new URL('.', href).href;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
