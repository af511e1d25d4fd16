// Folders that the caller gives itself: picked or dropped files, a record of contents, a directory handle. Loaded when
// one is opened.

import { ClearformerError, readable, unreadable } from '../support/error.js';
import { isA, isBlob } from '../support/kinds.js';
import type { Folder, SourceFile } from './folder.js';

export type Contents = Blob | ArrayBuffer | Uint8Array;

/** Files by name; if all are in one folder (a picked or dropped folder), by name relative to it. */
export function filesByName(files: readonly File[]): Map<string, Contents> {
  const paths = files.map((file) => file.webkitRelativePath || file.name);
  const root = paths[0]?.match(/^[^/]+\//)?.[0] ?? '';
  const common = paths.every((path) => path.startsWith(root)) ? root.length : 0;
  return new Map(files.map((file, i) => [(paths[i] as string).slice(common), file]));
}

export class MemoryFolder implements Folder {
  constructor(
    readonly where: string,
    private readonly files: ReadonlyMap<string, Contents>,
  ) {}

  async find(name: string): Promise<SourceFile | undefined> {
    const contents = this.files.get(name);
    if (contents === undefined) return undefined;
    if (isBlob(contents)) return blobFile(name, this.where, contents);
    const bytes: unknown = readable(name, () => (isA(contents, 'ArrayBuffer') ? new Uint8Array(contents) : contents));
    if (!isA(bytes, 'Uint8Array')) {
      throw new ClearformerError('invalid_argument', `${name}: a record holds Blobs, ArrayBuffers or Uint8Arrays`, {
        file: name,
      });
    }
    return { name, where: this.where, size: bytes.byteLength, borrowed: true, html: false, chunks: () => parts(bytes) };
  }

  async list(): Promise<string[]> {
    return [...this.files.keys()];
  }

  only(names: readonly string[]): Folder {
    return new MemoryFolder(this.where, new Map([...this.files].filter(([name]) => names.includes(name))));
  }
}

const partBytes = 1 << 20; // small, so that an abort takes effect at once

/** Browsers decode no text in memory that threads share: of that, copies. */
async function* parts(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  const isOwn = isA(bytes.buffer, 'ArrayBuffer');
  for (let start = 0; start < bytes.byteLength; start += partBytes) {
    const part = bytes.subarray(start, start + partBytes);
    yield isOwn ? part : new Uint8Array(part);
  }
}

function blobFile(name: string, where: string, blob: Blob): SourceFile {
  return { name, where, size: blob.size, borrowed: false, html: false, chunks: () => blobParts(name, where, blob) };
}

async function* blobParts(name: string, where: string, blob: Blob): AsyncIterable<Uint8Array> {
  const refuse = (cause: unknown) => {
    throw unreadIn(where, name, cause);
  };
  for (let start = 0; start < blob.size; start += partBytes) {
    const part = blob.slice(start, start + partBytes);
    yield new Uint8Array(await part.arrayBuffer().catch(refuse));
  }
}

/** The error for a file that the browser has and does not read, as one that has changed since it was picked. */
function unreadIn(where: string, file: string, cause: unknown): ClearformerError {
  return unreadable(`${file} in ${where}`, { file, where }, cause);
}

export class HandleFolder implements Folder {
  constructor(
    readonly where: string,
    private readonly handle: FileSystemDirectoryHandle,
  ) {}

  async find(name: string): Promise<SourceFile | undefined> {
    try {
      const path = name.split('/'); // "1_Pooling/config.json"
      let folder = this.handle;
      for (const part of path.slice(0, -1)) folder = await folder.getDirectoryHandle(part);
      const file = await (await folder.getFileHandle(path.at(-1) as string)).getFile();
      return blobFile(name, this.where, file);
    } catch (cause) {
      if (cause instanceof DOMException && cause.name === 'NotFoundError') return undefined;
      throw unreadIn(this.where, name, cause);
    }
  }

  async list(subfolder?: string): Promise<string[]> {
    const names: string[] = [];
    const folder = subfolder ? await this.handle.getDirectoryHandle(subfolder) : this.handle;
    for await (const name of folder.keys()) names.push(subfolder ? `${subfolder}/${name}` : name);
    return names;
  }

  only(): Folder {
    return this;
  }
}
