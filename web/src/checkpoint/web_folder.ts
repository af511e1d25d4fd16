// A folder behind http(s): what the server has, what the cache has, and whether the two are the same.

import { configuration } from '../support/config.js';
import { ClearformerError, messageOf } from '../support/error.js';
import type { Folder, SourceFile } from './folder.js';

/** What a cache of downloads must offer; the browser's `Cache` does. */
export interface CacheLike {
  /** The answer that is kept for a URL, or undefined. */
  match(request: string): Promise<Response | undefined>;
  /** Keeps the answer for a URL. */
  put(request: string, response: Response): Promise<void>;
}
/** Where files from the web are kept: in the browser's cache, nowhere, or in a cache of your own. */
export type CacheOption = 'auto' | 'none' | CacheLike;

interface WebFolderOptions {
  local_files_only?: boolean | undefined;
  cache?: CacheOption | undefined;
  /** The URL names a commit: what was cached once is current for ever. */
  immutable: boolean;
}

const cacheName = 'clearformer';
// A cached answer keeps these two of its own, since a page may not see all headers of another host.
const versionHeader = 'x-clearformer-version';
const sizeHeader = 'x-clearformer-size';

/** Files below a URL that ends with a slash; its query, if any, is kept for every file. */
export class WebFolder implements Folder {
  readonly where: string;
  readonly #base: URL;
  readonly #options: WebFolderOptions;
  #cache: Promise<CacheLike | undefined> | undefined;

  constructor(base: URL, options: WebFolderOptions) {
    this.where = options.local_files_only ? `the cache of ${base.href} (local_files_only)` : base.href;
    this.#base = base;
    this.#options = options;
  }

  async find(name: string, signal?: AbortSignal): Promise<SourceFile | undefined> {
    const url = new URL(this.#base);
    url.pathname += name.split('/').map(encodeURIComponent).join('/');
    const { href } = url;
    const cached = await (await this.#openCache())?.match(href);
    const { local_files_only, immutable } = this.#options;
    if (local_files_only || (cached !== undefined && immutable)) return cached && this.#cachedFile(name, href, cached);
    const head = await requestHead(name, href, signal);
    if (head === undefined) return undefined;
    const version = versionOf(head.headers);
    if (cached !== undefined && version !== null && version === cached.headers.get(versionHeader)) {
      return this.#cachedFile(name, href, cached);
    }
    const html = /^text\/html\b/.test(head.headers.get('content-type') ?? '');
    return {
      name,
      where: href,
      size: sizeOf(head.headers),
      borrowed: false,
      html,
      chunks: (stop, first) => this.#download(name, href, stop, first),
    };
  }

  only(): Folder {
    return this;
  }

  #openCache(): Promise<CacheLike | undefined> {
    this.#cache ??= chooseCache(this.#options.cache ?? 'auto');
    return this.#cache;
  }

  #cachedFile(name: string, href: string, answer: Response): SourceFile {
    const size = answer.headers.get(sizeHeader);
    return {
      name,
      where: `${href} (cached)`,
      size: size === null ? null : Number(size),
      borrowed: false,
      html: false,
      chunks: (signal) => this.#readCached(name, href, signal),
    };
  }

  async *#readCached(name: string, href: string, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    const answer = await (await this.#openCache())?.match(href); // a clone of an earlier answer would hold all of it twice
    if (answer === undefined) throw broken(name, href, 'has just left the cache', 'load it again', signal);
    yield* bodyOf(name, href, answer, signal);
  }

  async *#download(name: string, href: string, signal?: AbortSignal, first?: number): AsyncIterable<Uint8Array> {
    const answer = await request(name, href, 'GET', signal, first);
    if (first !== undefined && answer.status === 416) return; // an empty file
    if (!answer.ok) throw refused(name, href, answer.status);
    const chunks = bodyOf(name, href, answer, signal);
    const cache = first === undefined ? await this.#openCache() : undefined;
    const version = versionOf(answer.headers);
    if (cache === undefined || (version === null && !this.#options.immutable)) yield* chunks;
    else yield* keeping(chunks, cache, href, keptHeaders(version, sizeOf(answer.headers)));
  }
}

async function chooseCache(cache: CacheOption): Promise<CacheLike | undefined> {
  if (typeof cache === 'object') return cache;
  if (cache === 'none') return undefined;
  if (cache !== 'auto') {
    throw new ClearformerError('invalid_argument', `cache: '${String(cache)}' is neither 'auto', 'none' nor a cache`, {
      option: 'cache',
    });
  }
  // A page may have no storage (insecure origin, private window, no space): then downloads are not kept.
  return typeof caches === 'undefined' ? undefined : caches.open(cacheName).catch(() => undefined);
}

/** What changes when the file changes; null when the server does not say. */
function versionOf(headers: Headers): string | null {
  const modified = headers.get('last-modified');
  return headers.get('etag') ?? (modified === null ? null : `${modified}, ${headers.get('content-length')} bytes`);
}

/** The size of the contents; null when the server does not say, or says the size of a compressed form. */
function sizeOf(headers: Headers): number | null {
  const length = headers.get('content-length');
  return length === null || headers.has('content-encoding') ? null : Number(length);
}

function keptHeaders(version: string | null, size: number | null): Headers {
  const headers = new Headers();
  if (version !== null) headers.set(versionHeader, version);
  if (size !== null) headers.set(sizeHeader, String(size));
  return headers;
}

async function request(
  name: string,
  href: string,
  method: 'GET' | 'HEAD',
  signal?: AbortSignal,
  first?: number,
): Promise<Response> {
  const send = configuration.fetch ?? fetch;
  const part = first === undefined ? {} : { headers: { range: `bytes=0-${first - 1}` } };
  try {
    // `no-cache` lets the browser's own cache answer only after asking the server.
    return await send(href, { method, cache: 'no-cache', signal: signal ?? null, ...part });
  } catch (cause) {
    throw broken(name, href, 'could not be fetched', cause, signal);
  }
}

/** The answer without its body, or undefined for 404. A server that knows no HEAD is asked with GET. */
async function requestHead(name: string, href: string, signal?: AbortSignal): Promise<Response | undefined> {
  let answer = await request(name, href, 'HEAD', signal);
  if ([400, 403, 405, 501].includes(answer.status)) {
    answer = await request(name, href, 'GET', signal);
    await answer.body?.cancel();
  }
  if (answer.status === 404 || answer.status === 410) return undefined;
  if (answer.ok) return answer;
  throw refused(name, href, answer.status);
}

async function* bodyOf(name: string, href: string, answer: Response, signal?: AbortSignal): AsyncIterable<Uint8Array> {
  const reader = answer.body?.getReader();
  let received = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const part = await reader?.read().catch((cause) => {
        throw broken(name, href, `stopped after ${received} bytes`, cause, signal);
      });
      if (part?.value === undefined) return;
      received += part.value.byteLength;
      yield part.value;
    }
  } finally {
    await reader?.cancel().catch(() => {}); // after the end it does nothing
  }
}

/** Passes chunks on and lets the cache have a copy of each, never further ahead of it than one chunk. */
async function* keeping(
  chunks: AsyncIterable<Uint8Array>,
  cache: CacheLike,
  href: string,
  headers: Headers,
): AsyncIterable<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => controller.enqueue(new Uint8Array(chunk)),
  });
  const writer = writable.getWriter();
  // A cache that refuses (most often: no space) is no reason to fail: the file is not kept, that is all.
  const kept = cache.put(href, new Response(readable, { headers })).catch(() => readable.cancel().catch(() => {}));
  try {
    for await (const chunk of chunks) {
      await Promise.race([writer.write(chunk), kept]).catch(() => {});
      yield chunk;
    }
    await Promise.race([writer.close(), kept]).catch(() => {});
    await kept;
  } finally {
    await writer.abort().catch(() => {}); // an unfinished file is dropped; after close() it does nothing
  }
}

function broken(name: string, href: string, what: string, cause: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  const message = `${name}: ${href} ${what} (${messageOf(cause)})`;
  return new ClearformerError('network_error', message, { file: name, where: href }, cause);
}

function refused(name: string, href: string, status: number): ClearformerError {
  const why =
    status === 401 || status === 403
      ? 'the server asks for permission (the Hub does so for models it does not have, too)'
      : 'the server refused';
  return new ClearformerError('network_error', `${name}: ${why} (HTTP ${status} for ${href})`, {
    file: name,
    where: href,
    status,
  });
}
