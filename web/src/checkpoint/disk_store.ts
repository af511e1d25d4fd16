// The disk cache, shared with Python's huggingface_hub (Node).

import { ClearformerError, unreadable } from '../support/error.js';
import { nodeModule } from '../support/platform.js';
import { lockFile } from './disk_lock.js';
import { DiskRepository, type Origin } from './disk_repository.js';
import { DiskShelf, PieceNotes, sizeOf } from './disk_shelf.js';
import type { RemoteFile } from './remote_file.js';
import type { KeptFile, Shelf, Store } from './store.js';

/** The files of one repository on disk. */
export class DiskStore implements Store {
  readonly #repository: DiskRepository;

  constructor(origin: Origin, cacheDir: string | undefined) {
    this.#repository = new DiskRepository(origin, cacheDir);
  }

  async find(name: string): Promise<KeptFile | 'absent' | undefined> {
    const commit = await this.#repository.commit();
    const kept = await this.#kept(this.#repository.pointer(commit, name));
    if (kept !== undefined) return kept;
    return (await sizeOf(this.#repository.missing(commit, name))) === undefined ? undefined : 'absent';
  }

  async match(file: RemoteFile): Promise<KeptFile | undefined> {
    const blob = this.#repository.nameOf(file);
    const readable = (path: string, current?: string) => this.#kept(path, file.size, current).catch(() => undefined); // another is fetched
    const kept = await readable(this.#repository.blob(blob));
    if (kept !== undefined) await this.#register(file, blob).catch(() => {}); // a read-only folder
    if (kept !== undefined || file.commit === undefined) return kept;
    // Where links are impossible, Python moves the file to its commit.
    return readable(this.#repository.pointer(file.commit, file.name), blob);
  }

  /**
   * The file at a path, with what the server tells: its size, and its version if it is not named by that. Rejects if it
   * may not be read.
   */
  async #kept(path: string, told?: number | null, current?: string): Promise<KeptFile | undefined> {
    const { basename, dirname, relative, sep } = nodeModule('node:path');
    const { access, constants, realpath } = nodeModule('node:fs/promises');
    const real = await realpath(path).catch(noneOrUnreadable(path));
    const found = await sizeOf(real ?? path);
    if (real === undefined || found === undefined) return undefined;
    await access(real, constants.R_OK).catch(noneOrUnreadable(path));
    const isBlob = basename(dirname(real)) === 'blobs';
    const name = isBlob ? basename(real) : relative(this.#repository.folder, path).replaceAll(sep, '--');
    const notes = new PieceNotes(this.#repository.pieces(name));
    const size = told ?? (await notes.size()) ?? found;
    const shelf = new DiskShelf(notes, real, size);
    const version = isBlob ? name : current;
    return { size, version, shelf, isSound: (signal) => shelf.isSound(version, signal) };
  }

  async leaveOut(name: string, commit: string | undefined): Promise<void> {
    const { mkdir, writeFile } = nodeModule('node:fs/promises');
    const path = this.#repository.missing(commit ?? (await this.#repository.commit()), name);
    await mkdir(nodeModule('node:path').dirname(path), { recursive: true });
    await writeFile(path, '');
    await this.#repository.note(commit);
  }

  async open(file: RemoteFile, signal: AbortSignal | undefined): Promise<Shelf> {
    const repository = this.#repository;
    const name = repository.nameOf(file);
    repository.pointer('', file.name); // throws for names that must not become paths
    const lock = await lockFile(repository.lock(name), signal);
    try {
      const blob = repository.blob(name);
      const done = (await sizeOf(blob)) === file.size; // downloaded by another process meanwhile
      if (!done) await requireSpace(repository.folder, file.size ?? 0);
      const current = done ? name : repository.partial(name);
      const notes = new PieceNotes(repository.pieces(current));
      const keep = { blob, pieces: repository.pieces(name), lock, register: () => this.#register(file, name) };
      return new DiskShelf(notes, repository.blob(current), file.size, keep);
    } catch (thrown) {
      await lock.release();
      throw thrown;
    }
  }

  /** Links a blob as a file of its commit. What another download of it has left is removed. */
  async #register(file: RemoteFile, blob: string): Promise<void> {
    const repository = this.#repository;
    await repository.note(file.commit);
    await repository.point(file.commit ?? (await repository.commit()), file.name, blob);
    await repository.describe();
    const partial = repository.partial(blob);
    for (const path of [repository.blob(partial), repository.pieces(partial)])
      await nodeModule('node:fs/promises').rm(path, { force: true });
  }
}

/** Throws the error of a file that is there but cannot be read. */
const noneOrUnreadable = (path: string) => (cause: unknown) => {
  if (/^(ENOENT|ENOTDIR)$/.test((cause as { code?: string }).code ?? '')) return undefined;
  throw unreadable(path, { where: path }, cause);
};

/** Rejects if the disk has less free space than a file needs, before anything is written. */
async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { mkdir, statfs } = nodeModule('node:fs/promises');
  await mkdir(folder, { recursive: true });
  const disk = await statfs(folder).catch(() => undefined);
  if (disk === undefined || disk.bavail * disk.bsize >= bytes) return;
  const message = `${folder}: the disk has room for ${disk.bavail * disk.bsize} bytes, the file has ${bytes}`;
  throw new ClearformerError('out_of_memory', message, { where: folder });
}
