// A cache of downloads made of responses: the browser's Cache, or a caller's own. The last piece of a file is stored
// under the file's own URL and written last; the other pieces have URLs of their own.

import { digests } from './digest_part.js';
import type { RemoteFile } from './remote_file.js';
import { type KeptFile, pieceBytes, pieceCount, type Shelf, type Store } from './store.js';

/** The interface of a cache for downloads; the browser's `Cache` implements it. */
export interface CacheLike {
  /** The response stored for a URL, or undefined. */
  match(request: string): Promise<Response | undefined>;
  /** Stores the response for a URL. */
  put(request: string, response: Response): Promise<void>;
  /** Removes the response for a URL. Without it, removed entries are overwritten by a response that counts as none. */
  delete?(request: string): Promise<boolean>;
}

/** The browser cache for downloads. */
const cacheName = 'clearformer';
export const cachePlace = `the browser's cache '${cacheName}'`;

/** The browser's cache; undefined if there is none (insecure context, no space), or it is forbidden (sandboxed frame). */
export async function browserCache(): Promise<Cache | undefined> {
  try {
    return await globalThis.caches?.open(cacheName);
  } catch {
    return undefined;
  }
}

/** A damaged cache rejects: what it does not give counts as not cached. */
async function lookIn(cache: CacheLike, address: string): Promise<Response | undefined> {
  try {
    return await cache.match(address);
  } catch {
    return undefined;
  }
}

// Stored as headers of our own, since a page may not see all headers of another host.
const headers = {
  version: 'x-clearformer-version',
  /** Bytes of the file. */
  size: 'x-clearformer-size',
  /** Bytes of the piece. */
  kept: 'x-clearformer-kept',
  /** SHA-256 of the piece. */
  digest: 'x-clearformer-sha256',
  /** The server does not have the file. */
  absent: 'x-clearformer-absent',
} as const;

const pieceKey = 'clearformer-piece';

/** A stored response, as listed by `listResponses`. */
export interface KeptResponse {
  href: string;
  bytes: number;
  /** Whether the file is complete. */
  complete: boolean;
}

function addressOf(href: string, index: number): string {
  const url = new URL(href);
  url.searchParams.set(pieceKey, String(index));
  return url.href;
}

/** Files under one URL, in a cache of responses. */
export class ResponseStore implements Store {
  readonly #cache: CacheLike;
  readonly #address: (name: string) => string;

  constructor(cache: CacheLike, address: (name: string) => string) {
    this.#cache = cache;
    this.#address = address;
  }

  async find(name: string): Promise<KeptFile | 'absent' | undefined> {
    const href = this.#address(name);
    const first = await lookIn(this.#cache, href);
    await first?.body?.cancel();
    if (first === undefined) return undefined;
    if (first.headers.has(headers.absent)) return 'absent';
    const version = first.headers.get(headers.version) ?? '';
    const size = Number(first.headers.get(headers.size) ?? Number.NaN);
    if (Number.isNaN(size) || !isOf(first.headers, version)) return undefined;
    return { size, version, shelf: new ResponseShelf(this.#cache, href, version, size), isSound: async () => true };
  }

  async match({ name, version }: RemoteFile): Promise<KeptFile | undefined> {
    const kept = await this.find(name);
    return kept !== 'absent' && kept?.version === (version ?? '') ? kept : undefined;
  }

  async leaveOut(name: string, commit: string | undefined): Promise<void> {
    if (commit === undefined) return;
    await this.#cache.put(this.#address(name), new Response(null, { headers: { [headers.absent]: commit } }));
  }

  async open({ href, version, size }: RemoteFile, signal: AbortSignal | undefined): Promise<Shelf> {
    return new ResponseShelf(this.#cache, href, version ?? '', size, await lockOf(href, signal));
  }
}

const isOf = (found: Headers, version: string) => found.get(headers.version) === version && found.has(headers.digest);

/** Keeps other tabs from downloading the same file meanwhile. Resolves to the function that releases the lock. */
function lockOf(href: string, signal: AbortSignal | undefined): Promise<() => void> {
  const { locks } = (globalThis.navigator ?? {}) as Partial<Navigator>;
  if (locks === undefined) return Promise.resolve(() => {});
  return new Promise((resolve, reject) => {
    const hold = () => new Promise<void>((release) => resolve(release));
    const options = signal === undefined ? {} : { signal };
    locks.request(`clearformer ${href}`, options, hold).catch((thrown: unknown) => {
      if (signal?.aborted) reject(signal.reason);
      else if (thrown) resolve(() => {}); // a page with an opaque origin has no locks
    });
  });
}

class ResponseShelf implements Shelf {
  readonly where = 'the cache';
  readonly #cache: CacheLike;
  readonly #href: string;
  readonly #version: string;
  readonly #size: number | null;
  #count: number;
  readonly #unlock: () => void;

  constructor(cache: CacheLike, href: string, version: string, size: number | null, unlock: () => void = () => {}) {
    this.#cache = cache;
    this.#href = href;
    this.#version = version;
    this.#size = size;
    this.#unlock = unlock;
    this.#count = size === null ? 0 : pieceCount(size);
  }

  async get(index: number): Promise<Uint8Array | undefined> {
    const found = await this.#found(index);
    if (found === undefined) return undefined;
    const bytes = new Uint8Array(await found.arrayBuffer());
    return (await (await digests()).sha256Of(bytes)) === found.headers.get(headers.digest) ? bytes : undefined;
  }

  async digest(index: number): Promise<string | undefined> {
    const found = await this.#found(index);
    await found?.body?.cancel();
    return found?.headers.get(headers.digest) ?? undefined;
  }

  async #found(index: number): Promise<Response | undefined> {
    const isLast = index === this.#count - 1;
    for (const address of [...(isLast ? [this.#href] : []), addressOf(this.#href, index)]) {
      const found = await lookIn(this.#cache, address);
      if (found !== undefined && isOf(found.headers, this.#version)) return found;
      await found?.body?.cancel();
    }
    return undefined;
  }

  async put(index: number, bytes: Uint8Array): Promise<void> {
    this.#count = Math.max(this.#count, index + 1);
    const isMended = index === this.#count - 1 && isOf(await this.#headersOf(this.#href), this.#version);
    await this.#put(isMended ? this.#href : addressOf(this.#href, index), bytes, this.#size);
  }

  async #headersOf(address: string): Promise<Headers> {
    const found = await lookIn(this.#cache, address);
    await found?.body?.cancel();
    return found?.headers ?? new Headers();
  }

  async #put(address: string, bytes: Uint8Array, size: number | null): Promise<void> {
    const told: Record<string, string> = {
      [headers.version]: this.#version,
      [headers.kept]: String(bytes.byteLength),
      [headers.digest]: await (await digests()).sha256Of(bytes),
      ...(size !== null && { [headers.size]: String(size) }),
    };
    await this.#cache.put(address, new Response(bytes as BufferSource, { headers: told }));
  }

  async finish(index: number, bytes: Uint8Array): Promise<void> {
    await this.#put(this.#href, bytes, index * pieceBytes + bytes.byteLength);
    await forget(this.#cache, addressOf(this.#href, index)); // removes a previous download's
  }

  async close(): Promise<void> {
    this.#unlock();
  }

  touch(): void {} // the browser releases a lock when its tab ends

  async drop(): Promise<void> {
    await forget(this.#cache, this.#href);
    for (let index = 0; index < this.#count; index++) await forget(this.#cache, addressOf(this.#href, index));
  }
}

async function forget(cache: CacheLike, address: string): Promise<void> {
  if (cache.delete !== undefined) await cache.delete(address);
  else if ((await cache.match(address)) !== undefined) await cache.put(address, new Response(null));
}

/** Lists the browser's cache, file by file. */
export async function listResponses(cache: Pick<Cache, 'keys' | 'match'>): Promise<KeptResponse[]> {
  const files = new Map<string, KeptResponse>();
  for (const { url } of await cache.keys()) {
    const found = (await cache.match(url))?.headers;
    if (found === undefined || !found.has(headers.kept)) continue;
    const href = wholeAddress(url);
    const file = files.get(href) ?? { href, bytes: 0, complete: false };
    file.bytes += Number(found.get(headers.kept));
    file.complete ||= url === href;
    files.set(href, file);
  }
  return [...files.values()];
}

/** Removes everything cached of the selected files. Resolves to the number of bytes. */
export async function clearResponses(
  cache: Pick<Cache, 'keys' | 'match' | 'delete'>,
  isMeant: (href: string) => boolean,
): Promise<number> {
  let bytes = 0;
  for (const { url } of await cache.keys()) {
    if (!isMeant(wholeAddress(url))) continue;
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
