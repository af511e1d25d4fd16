// A folder of the local disk (Node).

import { ClearformerError } from '../support/error.js';
import { nodeModule } from '../support/platform.js';
import type { Folder, SourceFile } from './folder.js';

const partBytes = 1 << 20; // small, so that an abort takes effect at once

/** The files under a path. */
export class DiskFolder implements Folder {
  constructor(readonly where: string) {}

  async find(name: string): Promise<SourceFile | undefined> {
    const { stat } = nodeModule('node:fs/promises');
    const path = nodeModule('node:path').join(this.where, name);
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
    return { name, where: path, size: found.size, borrowed: true, html: false, chunks: () => diskParts(path) };
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

// The next part is read while the caller takes the last one, into two buffers in turn.
async function* diskParts(path: string): AsyncIterable<Uint8Array> {
  const file = await nodeModule('node:fs/promises').open(path);
  const read = async (buffer: ArrayBuffer) => {
    const { bytesRead } = await file.read(new Uint8Array(buffer), 0, partBytes);
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
