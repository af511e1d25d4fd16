// The sources of a checkpoint's files, behind one interface: Hub, web folders, dropped files, memory and disk.

import type { Browser } from '../support/browser_types.js';
import { isToken, remoteHost } from '../support/config.js';
import { ClearformerError, quoted } from '../support/error.js';
import { isA } from '../support/kinds.js';
import { baseUrl, environment, isNode, isOn, loadPart, pathOf, urlOf } from '../support/platform.js';
import type { Folder, SourceFile } from './folder.js';
import type { Contents } from './given_folder.js';
import type { CacheLike } from './response_store.js';
import type { CacheOption, WebFolderOptions } from './web_folder.js';

/**
 * A checkpoint's folder: a Hub id (`org/name`) or the address of its page, the URL of a folder, files from a file
 * picker or a drop, a directory handle, a record of file contents by name, or (Node) a local path that starts with `/`,
 * `./`, `../` or, on Windows, `C:\`.
 */
export type Source =
  | string
  | URL
  | readonly File[]
  | Browser<'FileList'>
  | Browser<'FileSystemDirectoryHandle'>
  | Readonly<Record<string, Blob | ArrayBuffer | Uint8Array>>;

/** How a source is read. */
export interface SourceOptions {
  /** Branch, tag or commit of a Hub repository (default `main`); other sources have none, which is an error. */
  revision?: string | undefined;
  /** Only cached or local files; nothing is downloaded. With Node `HF_HUB_OFFLINE` has the same effect on Hub ids. */
  local_files_only?: boolean | undefined;
  /**
   * `auto` caches downloads, in the browser's Cache storage or with Node on disk in the folders of Python's
   * huggingface_hub, and asks the server whether they are current. See web/examples/loading.md.
   */
  cache?: CacheOption | undefined;
  /** Node: the cache folder (default: HF_HUB_CACHE, or `hub` in HF_HOME, or ~/.cache/huggingface/hub). */
  cache_dir?: string | undefined;
  /**
   * A Hub token, for private or gated models; with Node by default HF_TOKEN or the one of `hf auth login`. It
   * is sent to the Hub's host only. `false` sends none.
   */
  token?: string | false | undefined;
  /** The host that Hub ids are resolved against, instead of the one set by `configure`. */
  remote_host?: string | undefined;
}

/** The names of the source options. */
export const sourceOptions: readonly string[] = [
  'revision',
  'local_files_only',
  'cache',
  'cache_dir',
  'token',
  'remote_host',
];

/** Opens a source. Throws `invalid_argument` for an invalid one. */
export function openSource(source: Source, options: SourceOptions): Folder {
  checkSourceOptions(options);
  if (typeof source === 'string') return openString(source, options);
  if (isA(source, 'URL')) return openUrl(source, options);
  if (typeof source !== 'object' || source === null) throw notASource();
  expectNoRevision(options);
  if ('getFileHandle' in source && typeof source.getFileHandle === 'function') {
    const handle = source as FileSystemDirectoryHandle;
    return openGiven(`the folder ${handle.name}`, ({ HandleFolder }, where) => new HandleFolder(where, handle));
  }
  if (Symbol.iterator in source) {
    const files = [...(source as Iterable<File>)];
    if (!files.every((file) => typeof file?.name === 'string' && typeof file.slice === 'function')) throw notASource();
    return openGiven('the given files', ({ MemoryFolder, filesByName }, where) => {
      return new MemoryFolder(where, filesByName(files));
    });
  }
  const contents = new Map(Object.entries(source as Record<string, Contents>));
  return openGiven('the given record', ({ MemoryFolder }, where) => new MemoryFolder(where, contents));
}

function refuse(option: string, why: string, code: 'invalid_argument' | 'unsupported' = 'invalid_argument'): never {
  throw new ClearformerError(code, `${option}: ${why}`, { option });
}

function checkSourceOptions({ cache = 'auto', cache_dir, token, remote_host }: SourceOptions): void {
  const { match, put } = Object(cache) as CacheLike;
  if (cache !== 'auto' && cache !== 'none' && !(typeof match === 'function' && typeof put === 'function'))
    refuse('cache', `${quoted(cache)} is neither 'auto', 'none' nor a cache`);
  if (cache_dir !== undefined && (typeof cache_dir !== 'string' || cache_dir === ''))
    refuse('cache_dir', 'must be a path');
  if (cache_dir !== undefined && !isNode()) refuse('cache_dir', 'a browser has no folders: see cache', 'unsupported');
  if (cache_dir !== undefined && cache !== 'auto') refuse('cache_dir', 'needs cache: auto');
  if (token !== undefined && token !== false && !isToken(token))
    refuse('token', 'must be a text without spaces, or false');
  if (remote_host !== undefined) remoteHost(remote_host); // refuses what is no URL, whatever the source
}

/** Folders and files have none, as only ids of the Hub. */
function expectNoRevision({ revision }: SourceOptions): void {
  if (revision === undefined || revision === null) return;
  refuse('revision', 'only a Hub id has revisions', 'unsupported');
}

function notASource(): ClearformerError {
  return new ClearformerError(
    'invalid_argument',
    'the source must be a Hub id, a folder URL or path, files, a directory handle or a record of files',
  );
}

function openString(source: string, options: SourceOptions): Folder {
  if (/^[a-z][a-z0-9+.-]+:/i.test(source) && !/^[a-z]:[\\/]/i.test(source))
    return openUrl(urlOf('source', source), options);
  if (/^(\.{0,2}[\\/]|\.{1,2}$|[a-z]:[\\/])/i.test(source)) {
    return isNode() ? openPath(source, options) : openUrl(urlOf('source', source), options);
  }
  if (!/^[\w-][\w.-]*(\/[\w-][\w.-]*)?$/.test(source)) {
    throw new ClearformerError(
      'invalid_argument',
      `'${source}' is neither a Hub id (org/name), nor a URL, nor a path that starts with './' or '/'`,
    );
  }
  const revision = options.revision ?? 'main';
  const local_files_only =
    options.local_files_only ?? isOn(environment('HF_HUB_OFFLINE') ?? environment('TRANSFORMERS_OFFLINE'));
  const host = remoteHost(options.remote_host);
  const base = urlOf('remote_host', `${host}/${source}/resolve/${encodeURIComponent(revision)}/`);
  return openWeb(base, { id: source, revision }, host, { ...options, local_files_only });
}

/** A model's page on the Hub, as copied from the address bar: its id and revision. */
const hubPage =
  /^https:\/\/(?:huggingface|hf)\.co\/([\w-][\w.-]*(?:\/[\w-][\w.-]*)?)(?:\/tree\/((?:[\w.-]|%2F)+))?\/*$/;

function openUrl(url: URL, options: SourceOptions): Folder {
  const [, id, shown] = hubPage.exec(url.origin + url.pathname) ?? [];
  if (id !== undefined)
    return openString(id, { ...options, revision: options.revision ?? (shown && decodeURIComponent(shown)) });
  if (url.protocol === 'file:') return openPath(pathOf(url), options);
  if (/\.(json|safetensors|bin|gguf|onnx)$/.test(url.pathname))
    throw new ClearformerError('invalid_argument', `${url.href} is a file: load the folder it is in`);
  expectNoRevision(options);
  const folder = new URL(url);
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  return openWeb(folder, undefined, remoteHost(options.remote_host), options);
}

/** A folder whose code is loaded when it is opened. */
class LaterFolder implements Folder {
  readonly list?: NonNullable<Folder['list']>;
  readonly #folder: Promise<Folder>;

  constructor(
    readonly where: string,
    folder: Promise<Folder>,
    listed: 'listed' | 'not listed',
  ) {
    this.#folder = folder;
    folder.catch(() => {}); // reported when a file is looked up
    if (listed === 'listed') this.list = async (subfolder) => (await folder).list?.(subfolder) ?? [];
  }

  async find(name: string, signal?: AbortSignal, use?: 'read at once'): Promise<SourceFile | undefined> {
    return (await this.#folder).find(name, signal, use);
  }

  only(names: readonly string[]): Folder {
    const folder = this.#folder.then((each) => each.only(names));
    return new LaterFolder(this.where, folder, this.list ? 'listed' : 'not listed');
  }
}

function openWeb(base: URL, hub: WebFolderOptions['hub'], host: string, options: SourceOptions): Folder {
  // An extension's own files have a protocol of their own.
  if (!/^https?:/.test(base.protocol) && !baseUrl().startsWith(base.protocol)) {
    throw new ClearformerError('invalid_argument', `${base.href}: a source's URL must be http, https or (Node) file`);
  }
  const { cache = 'auto', cache_dir, token } = options;
  const local_files_only = options.local_files_only ?? false;
  const where = local_files_only ? `the cache of ${base.href} (local_files_only)` : base.href;
  const given = { base, hub, host, cache, cache_dir, local_files_only, token };
  // In the next microtask: the caller first asks for the larger files, the worker's script and the WebAssembly.
  const part = Promise.resolve().then(() => loadPart(() => import('./web_folder.js')));
  const folder = part.then(({ WebFolder }) => new WebFolder(given, where));
  return new LaterFolder(where, folder, 'not listed');
}

function openPath(path: string, options: SourceOptions): Folder {
  expectNoRevision(options);
  const folder = import('./disk_folder.js').then(({ DiskFolder }) => new DiskFolder(path));
  return new LaterFolder(path, folder, 'listed');
}

type GivenFolders = typeof import('./given_folder.js');

/** Opens what the caller gives itself. */
function openGiven(where: string, open: (folders: GivenFolders, where: string) => Folder): Folder {
  const folder = loadPart(() => import('./given_folder.js')).then((folders) => open(folders, where));
  return new LaterFolder(where, folder, 'listed');
}
