// A folder of the local disk (Node).

import { ClearformerError, unreadable } from '../support/error.js';
import { nodeModule } from '../support/platform.js';
import type { Folder, SourceFile } from './folder.js';

const partBytes = 1 << 20; // small, so that an abort takes effect at once

/** What is at a path, if anything is; `details`: those of an error. */
async function statOf(path: string, details: { file?: string } = {}) {
  return nodeModule('node:fs/promises')
    .stat(path)
    .catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return undefined;
      throw unreadable(path, { ...details, where: path }, cause);
    });
}

/** The files under a path. */
export class DiskFolder implements Folder {
  constructor(readonly where: string) {}

  async find(name: string): Promise<SourceFile | undefined> {
    const path = nodeModule('node:path').join(this.where, name);
    const found = await statOf(path, { file: name });
    if (!found?.isFile()) await this.#explain(name, path, found !== undefined);
    if (found === undefined) return undefined;
    return { name, where: path, size: found.size, borrowed: true, html: false, chunks: () => diskParts(name, path) };
  }

  async list(subfolder?: string): Promise<string[]> {
    const names = await nodeModule('node:fs/promises')
      .readdir(nodeModule('node:path').join(this.where, subfolder ?? ''))
      .catch(() => []);
    return subfolder ? names.map((name) => `${subfolder}/${name}`) : names;
  }

  only(): Folder {
    return this;
  }

  /**
   * Throws `file_not_found` where no file can be: the folder does not exist, is a file or huggingface_hub's cache of a
   * model, or the file is a folder or pipe, or a link that leads nowhere, as in a copy of such a cache without its blobs.
   */
  async #explain(file: string, path: string, exists: boolean): Promise<void> {
    const { basename, dirname, join } = nodeModule('node:path');
    const { where } = this;
    const refuse = (why: string, details: { file?: string } = {}) => {
      throw new ClearformerError('file_not_found', why, { ...details, where });
    };
    if (exists) refuse(`${path} is no regular file`, { file });
    const folder = await statOf(where);
    if (folder === undefined) refuse(`${where} does not exist`);
    if (!folder?.isDirectory()) refuse(`${where} is not a folder: load the folder it is in, ${dirname(where)}`);
    const [, id] = /^models--(.+)$/.exec(basename(where)) ?? [];
    if (id !== undefined && (await statOf(join(where, 'snapshots'))) !== undefined)
      refuse(`${where} is the cache of ${id.replace('--', '/')}: load that, or a folder in its snapshots`);
    const target = await nodeModule('node:fs/promises')
      .readlink(path)
      .catch(() => undefined);
    if (target !== undefined) refuse(`${path} is a link to ${target}, which does not exist`, { file });
  }
}

// The next part is read while the caller takes the last one, into two buffers in turn.
async function* diskParts(name: string, path: string): AsyncIterable<Uint8Array> {
  const refuse = (cause: unknown) => {
    throw unreadable(path, { file: name, where: path }, cause);
  };
  const file = await nodeModule('node:fs/promises').open(path).catch(refuse);
  const read = async (buffer: ArrayBuffer) => {
    const { bytesRead } = await file.read(new Uint8Array(buffer), 0, partBytes).catch(refuse);
    return new Uint8Array(buffer, 0, bytesRead);
  };
  let other = new ArrayBuffer(partBytes);
  let reading = read(new ArrayBuffer(partBytes));
  try {
    for (;;) {
      const part = await reading;
      if (part.byteLength === 0) return;
      reading = read(other);
      reading.catch(() => {}); // thrown when it is its turn
      yield part;
      other = part.buffer;
    }
  } finally {
    await reading.catch(() => {});
    await file.close();
  }
}
