// Where a checkpoint's files come from: one small interface over Hub, web folders, dropped files, memory and disk.

import { remoteHost } from '../support/config.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { baseUrl, isNode, nodeModule } from '../support/platform.js';
import type { Folder, SourceFile } from './folder.js';
import { type CacheOption, WebFolder } from './web_folder.js';

/**
 * A checkpoint's folder: a Hub id (`org/name`), the URL of a folder, the files of a file picker or a drop, a directory
 * handle, a record from file name to contents, or (Node) a local path that starts with `/`, `./` or `../`.
 */
export type Source =
  | string
  | URL
  | readonly File[]
  | FileList
  | FileSystemDirectoryHandle
  | Readonly<Record<string, Blob | ArrayBuffer | Uint8Array>>;

/** How a source is read. */
export interface SourceOptions {
  /** Branch, tag or commit of a Hub repository (default `main`). */
  revision?: string | undefined;
  /** Only what is cached or local; nothing is fetched. */
  local_files_only?: boolean | undefined;
  /** `auto` keeps downloads in the browser's Cache storage and asks the server whether they are current. */
  cache?: CacheOption | undefined;
}

/** Opens a source. Throws `invalid_argument` for what is none. */
export function openSource(source: Source, options: SourceOptions): Folder {
  if (typeof source === 'string') return openString(source, options);
  if (source instanceof URL) return openUrl(source, options);
  if (typeof source !== 'object' || source === null) throw notASource();
  if ('getFileHandle' in source && typeof source.getFileHandle === 'function') {
    return new HandleFolder(source as FileSystemDirectoryHandle);
  }
  if (Array.isArray(source) || (typeof FileList === 'function' && source instanceof FileList)) {
    return new MemoryFolder('the given files', filesByName(Array.from(source as ArrayLike<File>)));
  }
  return new MemoryFolder('the given record', new Map(Object.entries(source as Record<string, Contents>)));
}

function notASource(): ClearformerError {
  return new ClearformerError(
    'invalid_argument',
    'the source must be a Hub id, a folder URL or path, files, a directory handle or a record of files',
  );
}

function openString(source: string, options: SourceOptions): Folder {
  if (/^[a-z][a-z0-9+.-]+:/i.test(source) && !/^[a-z]:[\\/]/i.test(source)) return openUrl(new URL(source), options);
  if (/^(\.{0,2}[\\/]|\.{1,2}$|[a-z]:[\\/])/i.test(source)) {
    return isNode() ? new DiskFolder(source) : openUrl(new URL(source, baseUrl()), options);
  }
  if (!/^[\w-][\w.-]*(\/[\w-][\w.-]*)?$/.test(source)) {
    throw new ClearformerError(
      'invalid_argument',
      `'${source}' is neither a Hub id (org/name), nor a URL, nor a path that starts with './' or '/'`,
    );
  }
  const { revision = 'main' } = options;
  const url = new URL(`${source}/resolve/${encodeURIComponent(revision)}/`, `${remoteHost()}/`);
  const immutable = /^[0-9a-f]{40}$/.test(revision);
  return new WebFolder(url, { ...options, immutable });
}

function openUrl(url: URL, options: SourceOptions): Folder {
  if (url.protocol === 'file:') return new DiskFolder(nodeModule('node:url').fileURLToPath(url));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ClearformerError('invalid_argument', `${url.href}: a source's URL must be http, https or (Node) file`);
  }
  if (options.revision !== undefined) {
    throw new ClearformerError('unsupported', 'revision: only a Hub id has revisions', { option: 'revision' });
  }
  const folder = new URL(url);
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  return new WebFolder(folder, { ...options, immutable: false });
}

type Contents = Blob | ArrayBuffer | Uint8Array;

/** Files by name; where they all lie below one folder (a picked or dropped folder), by name relative to it. */
function filesByName(files: readonly File[]): Map<string, Contents> {
  const paths = files.map((file) => file.webkitRelativePath || file.name);
  const root = paths[0]?.match(/^[^/]+\//)?.[0] ?? '';
  const common = paths.every((path) => path.startsWith(root)) ? root.length : 0;
  return new Map(files.map((file, i) => [(paths[i] as string).slice(common), file]));
}

class MemoryFolder implements Folder {
  constructor(
    readonly where: string,
    private readonly files: ReadonlyMap<string, Contents>,
  ) {}

  async find(name: string): Promise<SourceFile | undefined> {
    const contents = this.files.get(name);
    if (contents === undefined) return undefined;
    if (contents instanceof Blob) return blobFile(name, this.where, contents);
    if (!(contents instanceof ArrayBuffer || contents instanceof Uint8Array)) {
      throw new ClearformerError('invalid_argument', `${name}: a record holds Blobs, ArrayBuffers or Uint8Arrays`, {
        file: name,
      });
    }
    const bytes = contents instanceof Uint8Array ? contents : new Uint8Array(contents);
    return { name, where: this.where, size: bytes.byteLength, borrowed: true, html: false, chunks: () => parts(bytes) };
  }

  async list(): Promise<string[]> {
    return [...this.files.keys()];
  }

  only(names: readonly string[]): Folder {
    return new MemoryFolder(this.where, new Map([...this.files].filter(([name]) => names.includes(name))));
  }
}

const partBytes = 1 << 20; // small enough that an abort is noticed at once

async function* parts(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += partBytes) yield bytes.subarray(start, start + partBytes);
}

function blobFile(name: string, where: string, blob: Blob): SourceFile {
  return { name, where, size: blob.size, borrowed: false, html: false, chunks: () => blobParts(blob) };
}

async function* blobParts(blob: Blob): AsyncIterable<Uint8Array> {
  for (let start = 0; start < blob.size; start += partBytes) {
    yield new Uint8Array(await blob.slice(start, start + partBytes).arrayBuffer());
  }
}

class HandleFolder implements Folder {
  readonly where: string;
  constructor(private readonly handle: FileSystemDirectoryHandle) {
    this.where = `the folder ${handle.name}`;
  }

  async find(name: string): Promise<SourceFile | undefined> {
    try {
      const path = name.split('/'); // "1_Pooling/config.json"
      let folder = this.handle;
      for (const part of path.slice(0, -1)) folder = await folder.getDirectoryHandle(part);
      const file = await (await folder.getFileHandle(path.at(-1) as string)).getFile();
      return blobFile(name, this.where, file);
    } catch (cause) {
      if (cause instanceof DOMException && cause.name === 'NotFoundError') return undefined;
      throw new ClearformerError(
        'file_not_found',
        `${name} in ${this.where} could not be read (${messageOf(cause)})`,
        { file: name, where: this.where },
        cause,
      );
    }
  }

  async list(): Promise<string[]> {
    const names: string[] = [];
    for await (const name of this.handle.keys()) names.push(name);
    return names;
  }

  only(): Folder {
    return this;
  }
}

/** A folder of the local disk (Node). */
class DiskFolder implements Folder {
  constructor(readonly where: string) {}

  async find(name: string): Promise<SourceFile | undefined> {
    const { stat } = nodeModule('node:fs/promises');
    const path = `${this.where.replace(/[\\/]+$/, '')}/${name}`;
    const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return undefined;
      throw new ClearformerError(
        'file_not_found',
        `${path} could not be read (${cause.message})`,
        { file: name, where: path },
        cause,
      );
    });
    if (!found?.isFile()) return undefined;
    return { name, where: path, size: found.size, borrowed: false, html: false, chunks: () => diskParts(path) };
  }

  async list(): Promise<string[]> {
    return nodeModule('node:fs/promises')
      .readdir(this.where)
      .catch(() => []);
  }

  only(): Folder {
    return this;
  }
}

async function* diskParts(path: string): AsyncIterable<Uint8Array> {
  const file = await nodeModule('node:fs/promises').open(path);
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(partBytes), 0, partBytes);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
