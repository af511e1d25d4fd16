// A folder behind http(s): combines the server's files with the cached ones.

import { ClearformerError, messageOf } from '../support/error.js';
import { isNode } from '../support/platform.js';
import { warn } from '../support/warning.js';
import { bytesOf } from './download.js';
import type { Folder, SourceFile } from './folder.js';
import { type Download, download, downloadWhole, notKept, readKept } from './keeping.js';
import { lookUp, type Place, type RemoteFile, withChecksum } from './remote_file.js';
import { browserCache, type CacheLike, ResponseStore } from './response_store.js';
import { type KeptFile, pieceBytes, type Shelf, type Store } from './store.js';
import { type TokenOption, tokenFor } from './token.js';

/** Where downloads are cached: the platform's default, nowhere, or a cache of the caller's. */
export type CacheOption = 'auto' | 'none' | CacheLike;

/** The address of a folder and how it is read. */
export interface WebFolderOptions {
  /** Ends with a slash; its query, if any, is added to every file's URL. */
  readonly base: URL;
  /** Id and revision, if it is a Hub repository. */
  readonly hub: { id: string; revision: string } | undefined;
  /** The Hub's address: the only one that receives a token. */
  readonly host: string;
  readonly local_files_only: boolean;
  readonly cache: CacheOption;
  readonly cache_dir: string | undefined;
  readonly token: TokenOption | undefined;
}

/** Files under one address. */
export class WebFolder implements Folder {
  readonly where: string;
  readonly #options: WebFolderOptions;
  /** The revision is a commit: cached files never become stale. */
  readonly #immutable: boolean;
  #place: Promise<Place> | undefined;
  #store: Promise<Store | undefined> | undefined;
  /** Of the server's answers, in the order they came. */
  readonly #commits = new Set<string>();

  constructor(options: WebFolderOptions, where: string) {
    this.where = where;
    this.#options = options;
    this.#immutable = /^[0-9a-f]{40}$/.test(options.hub?.revision ?? '');
  }

  only(): Folder {
    return this;
  }

  async find(name: string, signal?: AbortSignal, use?: 'read at once'): Promise<SourceFile | undefined> {
    signal?.throwIfAborted();
    this.#store ??= this.#openStore();
    const store = await this.#store;
    const { local_files_only } = this.#options;
    const known = await store?.find(name).catch((thrown: unknown) => {
      if (local_files_only || (thrown as ClearformerError).code !== 'file_not_found') throw thrown;
      return undefined; // what may not be read is fetched
    });
    if (local_files_only || (this.#immutable && known !== undefined))
      return known === 'absent' ? undefined : known && this.#keptFile(name, known, undefined);
    // Of weights an earlier load may have left pieces, and another tab may be downloading them.
    const whole = store === undefined || !name.endsWith('.safetensors');
    const file = await this.#lookUp(name, known, signal, whole ? use : undefined);
    if (file === undefined) return known === 'absent' ? undefined : known && this.#keptFile(name, known, undefined);
    this.#compare(name, file.commit);
    if ('absent' in file) {
      const commit = file.commit ?? (this.#immutable ? this.#options.hub?.revision : undefined);
      await store?.leaveOut(name, commit).catch(() => {}); // failing to record it costs only a request
      return undefined;
    }
    const same = file.version === null ? undefined : await store?.match(file);
    if (same !== undefined || file.html) await file.opened?.take()?.cancel();
    return same === undefined ? this.#remoteFile(file, store) : this.#keptFile(name, same, file);
  }

  /**
   * The server's metadata. Undefined if the server cannot be reached but the cache knows the file, or if there is no
   * server: a missing file of an extension is answered like a broken connection.
   */
  async #lookUp(
    name: string,
    known: KeptFile | 'absent' | undefined,
    signal: AbortSignal | undefined,
    use: 'read at once' | undefined,
  ) {
    const isNew = known === undefined && /^http/.test(this.where);
    try {
      // Of a file that the cache knows, only the version is asked for.
      const given = isNew ? { use } : { retries: 0 };
      return await lookUp(name, this.#href(name), await this.#access(), signal, given);
    } catch (thrown) {
      if (isNew || !(thrown instanceof ClearformerError) || thrown.code !== 'network_error') throw thrown;
      if (typeof known !== 'object') return undefined;
      warn({
        code: 'stale_cache',
        message: `${name} is used as it is kept in ${known.shelf.where}: ${messageOf(thrown)}`,
      });
      return undefined;
    }
  }

  /** Warns, once, of a branch that moves while its files are asked for. */
  #compare(name: string, commit: string | undefined): void {
    const [first] = this.#commits;
    if (commit === undefined || this.#commits.has(commit) || this.#commits.add(commit).size !== 2) return;
    const again = `${this.where} changed on the server while it was read: load it again`;
    warn({ code: 'mixed_commits', message: `${name} is of commit ${commit}, others of ${first}: ${again}` });
  }

  #href(name: string): string {
    const url = new URL(this.#options.base);
    url.pathname += name.split('/').map(encodeURIComponent).join('/');
    return url.href;
  }

  #access(): Promise<Place> {
    const { hub, host, token, base } = this.#options;
    this.#place ??= tokenFor(base, host, token).then((found) => ({ hub, token: found }));
    return this.#place;
  }

  async #openStore(): Promise<Store | undefined> {
    const { cache, cache_dir, hub, base } = this.#options;
    if (cache === 'none') return undefined;
    if (typeof cache === 'object') return new ResponseStore(cache, (name) => this.#href(name));
    if (isNode()) {
      const { DiskStore } = await import('./disk_store.js');
      return new DiskStore(hub ?? base, cache_dir);
    }
    const opened = await browserCache();
    return opened && new ResponseStore(opened, (name) => this.#href(name));
  }

  #keptFile(name: string, kept: KeptFile, remote: RemoteFile | undefined): SourceFile {
    const repairWith = (signal: AbortSignal | undefined) => ({
      describe: () => this.#describe(name, kept, remote, signal),
      open: async (file: RemoteFile) => openShelf(await this.#store, file, signal),
    });
    return {
      name,
      where: `${this.#href(name)} (cached in ${kept.shelf.where})`,
      size: kept.size,
      borrowed: false,
      html: false,
      chunks: (signal) => readKept(kept, name, signal, repairWith(signal)),
    };
  }

  /** The server's file that a cached one is a copy of. */
  async #describe(
    name: string,
    kept: KeptFile,
    remote: RemoteFile | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Download> {
    const href = this.#href(name);
    const fault = (why: string) => {
      const message = `${name} had changed in ${kept.shelf.where} and ${why}`;
      return new ClearformerError('integrity_mismatch', message, { file: name, where: kept.shelf.where });
    };
    if (this.#options.local_files_only)
      throw fault('is not fetched again because of local_files_only: load it once without');
    const place = await this.#access();
    const file = remote ?? (await lookUp(name, href, place, signal));
    // A server that was away when the file was looked for may have another version by now.
    if ('absent' in file || !(remote || this.#immutable || (await (await this.#store)?.match(file))))
      throw fault(`${href} does not have it any more`);
    return { file, place, signal };
  }

  #remoteFile(file: RemoteFile, store: Store | undefined): SourceFile {
    const { name, href, size, html } = file;
    const kept = (file.version === null && !this.#immutable) || html ? undefined : store;
    return {
      name,
      where: href,
      size,
      html,
      borrowed: false,
      chunks: (signal, first) => this.#fetch(file, kept, signal, first),
    };
  }

  async *#fetch(
    file: RemoteFile,
    store: Store | undefined,
    signal: AbortSignal | undefined,
    first: number | undefined,
  ): AsyncIterable<Uint8Array> {
    const place = await this.#access();
    if (first !== undefined) return yield* bytesOf(file, { from: 0, to: first }, place, signal);
    const given = { file: await withChecksum(file, place, signal), place, signal };
    const shelf = await openShelf(store, file, signal);
    // Small files are verified before they are used.
    const { name, size } = file;
    if (size === null || size > pieceBytes || name.endsWith('.safetensors')) return yield* download(given, shelf);
    const bytes = await downloadWhole(given, size, shelf);
    if (bytes.byteLength > 0) yield bytes;
  }
}

/** The storage for a download, which goes on without, with a warning. */
async function openShelf(
  store: Store | undefined,
  file: RemoteFile,
  signal: AbortSignal | undefined,
): Promise<Shelf | undefined> {
  return store?.open(file, signal).catch((thrown: unknown) => {
    if (signal?.aborted) throw thrown;
    notKept(file.name, 'the cache', thrown);
    return undefined;
  });
}
