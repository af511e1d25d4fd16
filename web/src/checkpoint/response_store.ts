// A cache of downloads made of responses: the browser's Cache, or a caller's own. The last piece of a file is stored
// under the file's own URL and written last; the other pieces have URLs of their own. A newer version is downloaded
// beside the one that is kept: until it is complete, that one can be read.

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
export const cacheName = 'clearformer';

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
export const headers = {
  version: 'x-clearformer-version',
  /** Bytes of the file. */
  size: 'x-clearformer-size',
  /** Bytes of the piece. */
  kept: 'x-clearformer-kept',
  /** SHA-256 of the piece. */
  digest: 'x-clearformer-sha256',
  /** Where the other pieces of this version are. */
  side: 'x-clearformer-side',
  /** The server does not have the file. */
  absent: 'x-clearformer-absent',
} as const;

/** The query of a piece's URL. */
export const pieceKey = 'clearformer-piece';

/** The pieces of a version that is downloaded are on the other side than those of the version that is kept. */
type Side = '' | 'b'; // the end of their addresses
const sideIn = (found: Headers): Side => (found.get(headers.side) ? 'b' : '');
const across = (side: Side): Side => (side ? '' : 'b');

async function headersOf(cache: CacheLike, address: string): Promise<Headers> {
  const found = await lookIn(cache, address);
  await found?.body?.cancel();
  return found?.headers ?? new Headers();
}

/** A version of a file in the cache. */
interface Spot {
  readonly href: string;
  readonly version: string;
  readonly size: number | null;
  readonly side: Side;
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
    const found = await headersOf(this.#cache, href);
    if (found.has(headers.absent)) return 'absent';
    const version = found.get(headers.version) ?? '';
    const size = Number(found.get(headers.size) ?? Number.NaN);
    if (Number.isNaN(size) || !isOf(found, version)) return undefined;
    const shelf = new ResponseShelf(this.#cache, { href, version, size, side: sideIn(found) });
    return { size, version, shelf, isSound: async () => true };
  }

  async match({ name, version }: RemoteFile): Promise<KeptFile | undefined> {
    const kept = await this.find(name);
    return kept !== 'absent' && kept?.version === (version ?? '') ? kept : undefined;
  }

  async leaveOut(name: string, commit: string | undefined): Promise<void> {
    if (commit === undefined) return;
    await this.#cache.put(this.#address(name), new Response(null, { headers: { [headers.absent]: commit } }));
  }

  async open({ href, size, ...file }: RemoteFile, signal: AbortSignal | undefined): Promise<Shelf> {
    const unlock = await lockOf(href, signal);
    const found = await headersOf(this.#cache, href);
    const version = file.version ?? '';
    const isNext = found.has(headers.digest) && !isOf(found, version);
    const side = isNext ? across(sideIn(found)) : sideIn(found);
    return new ResponseShelf(this.#cache, { href, version, size, side }, unlock);
  }
}

const isOf = (found: Headers, version: string) => found.get(headers.version) === version && found.has(headers.digest);

/** Keeps other tabs from downloading the same file meanwhile. Resolves to the function that releases the lock. */
function lockOf(href: string, signal: AbortSignal | undefined): Promise<() => void> {
  const { locks } = (globalThis.navigator ?? {}) as Partial<Navigator>;
  if (locks === undefined) return Promise.resolve(() => {});
  return new Promise((resolve, reject) => {
    const hold = () => new Promise<void>((release) => resolve(release));
    const options = signal ? { signal } : {};
    locks.request(`clearformer ${href}`, options, hold).catch((thrown: unknown) => {
      if (signal?.aborted) reject(signal.reason);
      else if (thrown) resolve(() => {}); // a page with an opaque origin has no locks
    });
  });
}

class ResponseShelf implements Shelf {
  readonly where = 'the cache';
  readonly #cache: CacheLike;
  readonly #spot: Spot;
  #count: number;
  readonly #unlock: () => void;

  constructor(cache: CacheLike, spot: Spot, unlock: () => void = () => {}) {
    this.#cache = cache;
    this.#spot = spot;
    this.#unlock = unlock;
    this.#count = spot.size === null ? 0 : pieceCount(spot.size);
  }

  #address(index: number, side = this.#spot.side): string {
    const url = new URL(this.#spot.href);
    url.searchParams.set(pieceKey, index + side);
    return url.href;
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
    const { href, version } = this.#spot;
    const isLast = index === this.#count - 1;
    for (const address of [...(isLast ? [href] : []), this.#address(index)]) {
      const found = await lookIn(this.#cache, address);
      if (found !== undefined && isOf(found.headers, version)) return found;
      await found?.body?.cancel();
    }
    return undefined;
  }

  async put(index: number, bytes: Uint8Array): Promise<void> {
    this.#count = Math.max(this.#count, index + 1);
    const { href, size } = this.#spot;
    const isMended = index === this.#count - 1 && (await this.#isKept());
    await this.#put(isMended ? href : this.#address(index), bytes, size);
  }

  /** Whether this version is the one that can be found. */
  async #isKept(): Promise<boolean> {
    return isOf(await headersOf(this.#cache, this.#spot.href), this.#spot.version);
  }

  async #put(address: string, bytes: Uint8Array, size: number | null): Promise<void> {
    const told: Record<string, string> = {
      [headers.version]: this.#spot.version,
      [headers.side]: this.#spot.side,
      [headers.kept]: String(bytes.byteLength),
      [headers.digest]: await (await digests()).sha256Of(bytes),
      ...(size !== null && { [headers.size]: String(size) }),
    };
    const put = () => this.#cache.put(address, new Response(bytes as BufferSource, { headers: told }));
    await put().catch(async (cause: unknown) => {
      if ((cause as Error).name !== 'QuotaExceededError' || (await this.#isKept())) throw cause;
      await forget(this.#cache, this.#spot.href); // without room for both the previous version goes
      await this.#forgetPieces(across(this.#spot.side), 0);
      await put();
    });
  }

  async finish(index: number, bytes: Uint8Array): Promise<void> {
    const { href, side } = this.#spot;
    for (let each = 0; each < index; each++)
      if ((await this.digest(each)) === undefined) throw new Error('it was removed meanwhile');
    await this.#put(href, bytes, index * pieceBytes + bytes.byteLength);
    await this.#forgetPieces(side, index); // of previous downloads
    await this.#forgetPieces(across(side), 0); // of the previous version
  }

  /** Removes the pieces from `index` on: those before `least` and all that follow without a gap. */
  async #forgetPieces(side: Side, index: number, least = 0): Promise<void> {
    const address = this.#address(index, side);
    if (index >= least && !(await headersOf(this.#cache, address)).has(headers.digest)) return;
    await forget(this.#cache, address);
    await this.#forgetPieces(side, index + 1, least);
  }

  async close(): Promise<void> {
    this.#unlock();
  }

  touch(): void {} // the browser releases a lock when its tab ends

  async drop(): Promise<void> {
    if (await this.#isKept()) await forget(this.#cache, this.#spot.href);
    await this.#forgetPieces(this.#spot.side, 0, this.#count);
  }
}

async function forget(cache: CacheLike, address: string): Promise<void> {
  if (cache.delete !== undefined) await cache.delete(address);
  else if ((await cache.match(address)) !== undefined) await cache.put(address, new Response(null));
}
