// One file on disk, in pieces whose checksums are in a file beside it (Node).

import { nodeModule } from '../support/platform.js';
import { sha256Of } from './digest.js';
import type { DiskLock } from './disk_lock.js';
import { lengthOfPiece, pieceBytes, pieceCount, type Shelf } from './store.js';

/** The record of a piece. */
interface PieceNote {
  length: number;
  sha256: string;
}

/** The checksums of a file's pieces, one line each; for repeated pieces the last line counts. */
export class PieceNotes {
  #path: string;
  #notes: Promise<Map<number, PieceNote>> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async #read(): Promise<Map<number, PieceNote>> {
    const text = await nodeModule('node:fs/promises')
      .readFile(this.#path, 'utf8')
      .catch(() => '');
    const lines = [...text.matchAll(/^(\d+) (\d+) ([0-9a-f]{64})$/gm)];
    return new Map(lines.map(([, index, length, sha256 = '']) => [Number(index), { length: Number(length), sha256 }]));
  }

  all(): Promise<Map<number, PieceNote>> {
    this.#notes ??= this.#read();
    return this.#notes;
  }

  /** The size of the file according to the records, if there are any. */
  async size(): Promise<number | undefined> {
    const ends = [...(await this.all())].map(([index, { length }]) => index * pieceBytes + length);
    return ends.length === 0 ? undefined : Math.max(...ends);
  }

  /** Sets records of pieces that are not written. */
  async hold(pieces: ReadonlyMap<number, PieceNote>): Promise<void> {
    const notes = await this.all();
    for (const [index, note] of pieces) notes.set(index, note);
  }

  /** Appends records of pieces, and the mark for a file that this package downloaded. */
  async add(pieces: ReadonlyMap<number, PieceNote>, mark = ''): Promise<void> {
    const { appendFile, mkdir } = nodeModule('node:fs/promises');
    await this.hold(pieces);
    await mkdir(nodeModule('node:path').dirname(this.#path), { recursive: true });
    const lines = [...pieces].map(([index, { length, sha256 }]) => `${index} ${length} ${sha256}\n`);
    await appendFile(this.#path, lines.join('') + mark);
  }

  async move(path: string): Promise<void> {
    await nodeModule('node:fs/promises').rename(this.#path, path);
    this.#path = path;
  }

  async drop(): Promise<void> {
    this.#notes = undefined;
    await nodeModule('node:fs/promises').rm(this.#path, { force: true });
  }
}

/** The line that marks files downloaded by this package. */
export const downloadedMark = 'downloaded\n';

/** The state of a file being downloaded. */
interface Keeping {
  /** The path of the complete file. */
  readonly blob: string;
  /** The path of its records. */
  readonly pieces: string;
  readonly lock: DiskLock;
  register(): Promise<void>;
}

/** A file on disk, complete or being downloaded. */
export class DiskShelf implements Shelf {
  readonly #notes: PieceNotes;
  readonly #size: number | null;
  readonly #keeping: Keeping | undefined;
  #path: string;
  /** Distinguishes the file from another one created at the same path. */
  #inode: number | undefined;

  constructor(notes: PieceNotes, path: string, size: number | null, keeping?: Keeping) {
    this.#notes = notes;
    this.#path = path;
    this.#size = size;
    this.#keeping = keeping;
  }

  get where(): string {
    return this.#path;
  }

  async digest(index: number): Promise<string | undefined> {
    return (await this.#notes.all()).get(index)?.sha256;
  }

  async get(index: number): Promise<Uint8Array | undefined> {
    const note = (await this.#notes.all()).get(index);
    if (note === undefined) return undefined;
    const bytes = await readAt(this.#path, index * pieceBytes, note.length);
    return bytes?.byteLength === note.length && (await sha256Of(bytes)) === note.sha256 ? bytes : undefined;
  }

  async put(index: number, bytes: Uint8Array): Promise<void> {
    const note = { length: bytes.byteLength, sha256: await sha256Of(bytes) };
    await this.#write(index * pieceBytes, bytes);
    await this.#notes.add(new Map([[index, note]]));
  }

  async #write(position: number, bytes: Uint8Array): Promise<void> {
    const { constants, mkdir, open } = nodeModule('node:fs/promises');
    await mkdir(nodeModule('node:path').dirname(this.#path), { recursive: true });
    // A missing file was taken over by another process: recreating it would leave a hole at its beginning.
    const create = this.#keeping !== undefined && this.#inode === undefined ? constants.O_CREAT : 0;
    const file = await open(this.#path, constants.O_RDWR | create);
    try {
      this.#inode ??= (await file.stat()).ino;
      for (let at = 0; at < bytes.byteLength; ) {
        const { bytesWritten } = await file.write(bytes, at, bytes.byteLength - at, position + at);
        at += bytesWritten;
      }
    } finally {
      await file.close();
    }
  }

  async finish(index: number, bytes: Uint8Array): Promise<void> {
    const { rename, stat, truncate } = nodeModule('node:fs/promises');
    await this.put(index, bytes);
    await truncate(this.#path, index * pieceBytes + bytes.byteLength);
    await this.#notes.add(new Map(), downloadedMark);
    if (this.#keeping === undefined) return;
    const { blob, pieces, register } = this.#keeping;
    if (blob !== this.#path && (await stat(this.#path)).ino === this.#inode) {
      await this.#notes.move(pieces);
      await rename(this.#path, blob);
    }
    this.#path = blob;
    await register();
  }

  touch(): void {
    this.#keeping?.lock.touch();
  }

  async drop(): Promise<void> {
    const { rm } = nodeModule('node:fs/promises');
    await rm(this.#path, { force: true });
    await this.#notes.drop();
  }

  async close(): Promise<void> {
    await this.#keeping?.lock.release();
  }

  /**
   * Verifies a file. One that Python downloaded has no checksums of pieces: it is compared with its version, if that is
   * a checksum, and gets them. Of another nothing is recorded: it may be damaged.
   */
  async isSound(version: string | undefined, signal: AbortSignal | undefined): Promise<boolean> {
    const size = this.#size ?? 0;
    if ((await this.#notes.all()).size >= pieceCount(size)) return true;
    if ((await sizeOf(this.#path)) !== size) return false;
    const hashes = hashesFor(version ?? '', size);
    const found = new Map<number, PieceNote>();
    for (let index = 0; index < pieceCount(size); index++) {
      signal?.throwIfAborted();
      const bytes = await readAt(this.#path, index * pieceBytes, lengthOfPiece(index, size));
      if (bytes === undefined) return false;
      for (const hash of hashes) hash.update(bytes);
      found.set(index, { length: bytes.byteLength, sha256: await sha256Of(bytes) });
    }
    if (hashes.length === 0) await this.#notes.hold(found);
    else if (!hashes.some((hash) => hash.digest('hex') === version)) return false;
    else await this.#notes.add(found).catch(() => {}); // a read-only folder: it is verified again next time
    return true;
  }
}

/** The hashes that a version may be: SHA-256, git's SHA-1, or the SHA-1 of servers that do not follow git. */
function hashesFor(version: string, size: number): readonly ReturnType<typeof import('node:crypto').createHash>[] {
  const { createHash } = nodeModule('node:crypto');
  if (/^[0-9a-f]{64}$/.test(version)) return [createHash('sha256')];
  if (!/^[0-9a-f]{40}$/.test(version)) return [];
  return [createHash('sha1').update(`blob ${size}\0`), createHash('sha1')];
}

/** The size of a file in bytes; undefined if there is none. */
export async function sizeOf(path: string): Promise<number | undefined> {
  const found = await nodeModule('node:fs/promises')
    .stat(path)
    .catch(() => undefined);
  return found?.isFile() ? found.size : undefined;
}

async function readAt(path: string, position: number, length: number): Promise<Uint8Array | undefined> {
  const file = await nodeModule('node:fs/promises')
    .open(path)
    .catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}
