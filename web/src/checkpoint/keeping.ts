// Caches downloads and reads cached files, which are complete and verified or not there at all.

import { ClearformerError, messageOf } from '../support/error.js';
import { warn } from '../support/warning.js';
import type { RunningDigest } from './digest.js';
import { digests } from './digest_part.js';
import { bytesOf } from './download.js';
import type { Place, RemoteFile } from './remote_file.js';
import { type KeptFile, lengthOfPiece, pieceBytes, pieceCount, type Shelf } from './store.js';

/** A file to download. */
export interface Download {
  readonly file: RemoteFile;
  readonly place: Place;
  readonly signal: AbortSignal | undefined;
}

/**
 * Downloads a file, starting with the pieces that an earlier download left on the shelf. At the end the checksum is
 * compared, throwing `integrity_mismatch`; only then is the file kept. If the shelf fails, the download goes on with a
 * warning.
 */
export async function* download(given: Download, shelf: Shelf | undefined): AsyncGenerator<Uint8Array> {
  const { file, signal } = given;
  const filling = new Filling(file, shelf);
  const many = file.size === null || pieceCount(file.size) > 1;
  const digest = file.sha256 !== undefined && many ? await (await digests()).runningSha256() : undefined;
  try {
    for await (const kept of filling.kept()) {
      signal?.throwIfAborted();
      digest?.update(kept);
      yield kept;
    }
    for await (const chunk of bytesOf(file, { from: filling.length }, given.place, signal)) {
      digest?.update(chunk);
      await filling.add(chunk);
      yield chunk; // the consumer may transfer it
    }
    await filling.finish(digest);
  } finally {
    const leaving = filling.leave();
    if (!signal?.aborted) await leaving; // an abort does not wait for the disk
  }
}

/** A shelf being filled. The last piece is written only after the whole file has been verified. */
class Filling {
  /** Bytes received. */
  length = 0;
  readonly #file: RemoteFile;
  #shelf: Shelf | undefined;
  readonly #close: () => Promise<void>;
  /** The current piece, incomplete or the last. */
  #piece = new Uint8Array(0);
  #filled = 0;
  #finished = false;

  constructor(file: RemoteFile, shelf: Shelf | undefined) {
    this.#file = file;
    this.#shelf = shelf;
    this.#close = async () => shelf?.close();
  }

  /** The contiguous pieces that the shelf holds from the start. */
  async *kept(): AsyncIterable<Uint8Array> {
    const { size } = this.#file;
    for (let index = 0; size !== null && this.length < size; index++) {
      const piece = await this.#shelf?.get(index);
      if (piece === undefined || piece.byteLength > lengthOfPiece(index, size)) return;
      const full = piece.byteLength === pieceBytes;
      if (!full) this.#take(piece);
      this.length += piece.byteLength;
      yield piece.slice();
      if (!full) return;
    }
  }

  async add(chunk: Uint8Array): Promise<void> {
    this.#shelf?.touch();
    for (let rest = chunk; rest.byteLength > 0; ) {
      if (this.#filled === pieceBytes) await this.#flush();
      const part = rest.subarray(0, pieceBytes - this.#filled);
      this.#take(part);
      this.length += part.byteLength;
      rest = rest.subarray(part.byteLength);
    }
  }

  #take(part: Uint8Array): void {
    if (this.#piece.byteLength < this.#filled + part.byteLength) {
      const { size } = this.#file;
      const larger = new Uint8Array(Math.min(pieceBytes, size ?? pieceBytes));
      larger.set(this.#piece.subarray(0, this.#filled));
      this.#piece = larger;
    }
    this.#piece.set(part, this.#filled);
    this.#filled += part.byteLength;
  }

  /** The index of the current piece. */
  get #index(): number {
    return (this.length - this.#filled) / pieceBytes;
  }

  async #flush(): Promise<void> {
    const full = this.#piece.subarray(0, this.#filled);
    await this.#try((shelf) => shelf.put(this.#index, full));
    this.#filled = 0;
  }

  /** Verifies the checksum and keeps the file. */
  async finish(running: RunningDigest | undefined): Promise<void> {
    this.#finished = true;
    const last = this.#piece.subarray(0, this.#filled);
    const fault = await faultOf(this.#file, last, running);
    if (fault !== undefined) {
      await this.#shelf?.drop().catch(() => {});
      throw fault.error;
    }
    await this.keep();
  }

  /** Keeps the file without verification. */
  async keep(): Promise<void> {
    this.#finished = true;
    await this.#try((shelf) => shelf.finish(this.#index, this.#piece.subarray(0, this.#filled)));
  }

  /** Keeps the received part of an incomplete file for the next time. */
  async leave(): Promise<void> {
    const { size, version } = this.#file;
    if (!this.#finished && this.#filled > 0 && size !== null && version !== null && this.length < size)
      await this.#shelf?.put(this.#index, this.#piece.subarray(0, this.#filled)).catch(() => {});
    await this.#close();
  }

  async #try(work: (shelf: Shelf) => Promise<void>): Promise<void> {
    const shelf = this.#shelf;
    if (shelf === undefined) return;
    await work(shelf).catch(async (cause: unknown) => {
      this.#shelf = undefined;
      await shelf.drop().catch(() => {});
      notKept(this.#file.name, shelf.where, cause);
    });
  }
}

/** Warns that a download is not cached. */
export function notKept(name: string, where: string, cause: unknown): void {
  const hint = typeof navigator === 'object' && 'storage' in navigator ? ' (clearCache() makes room)' : '';
  const message = `${name} could not be kept in ${where} and is fetched again the next time: ${messageOf(cause)}${hint}`;
  warn({ code: 'not_kept', message });
}

interface Fault {
  found: string;
  error: ClearformerError;
  /** Whether the server's etag may be something other than a checksum. */
  doubtful: boolean;
}

/** The fault of a file that ends with `last`; without a running digest `last` is all of it. */
async function faultOf(
  { name, href, sha256, gitSha1, size }: RemoteFile,
  last: Uint8Array,
  running?: RunningDigest,
): Promise<Fault | undefined> {
  const fault = (kind: string, found: string, expected: string): Fault => {
    const message = `${name}: ${kind} is ${found}, the server says ${expected} (${href}); nothing was kept: load it again`;
    const error = new ClearformerError('integrity_mismatch', message, { file: name, where: href });
    return { found, error, doubtful: kind !== 'SHA-256' };
  };
  if (sha256 !== undefined) {
    const found = running?.hex() ?? (await (await digests()).sha256Of(last));
    return found === sha256 ? undefined : fault('SHA-256', found, sha256);
  }
  if (gitSha1 === undefined || size === null || pieceCount(size) > 1) return undefined;
  const found = await (await digests()).sha1sOf(last);
  const [git = ''] = found ?? [];
  return found === undefined || found.includes(gitSha1) ? undefined : fault("git's SHA-1", git, gitSha1);
}

/**
 * Downloads a file of one piece, of `size` bytes, which is returned only when complete and verified. On a mismatch it is
 * downloaded once more. The Hub's etag of small files is git's checksum, but other servers' etags need not be: if the
 * same bytes arrive twice, they are accepted with a warning.
 */
export async function downloadWhole(given: Download, size: number, shelf: Shelf | undefined): Promise<Uint8Array> {
  const { file, place, signal } = given;
  try {
    let bytes = await collected(bytesOf(file, { from: 0 }, place, signal), size);
    const fault = await faultOf(file, bytes);
    if (fault !== undefined) {
      bytes = await collected(bytesOf(file, { from: 0 }, place, signal), size);
      const again = await faultOf(file, bytes);
      if (again !== undefined && !(again.doubtful && again.found === fault.found)) throw again.error;
      if (again !== undefined) warn({ code: 'other_checksum', message: `${again.error.message.split(';')[0]}, twice` });
    }
    const filling = new Filling(file, shelf);
    await filling.add(bytes);
    await filling.keep();
    return bytes;
  } finally {
    await shelf?.close();
  }
}

async function collected(chunks: AsyncIterable<Uint8Array>, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let length = 0;
  for await (const chunk of chunks) {
    bytes.set(chunk, length);
    length += chunk.byteLength;
  }
  return bytes;
}

/** The means to repair a cached file. */
export interface Repair {
  /** The file as described by its server. Rejects if the server cannot be reached. */
  describe(): Promise<Download>;
  /** Opens a shelf for the whole file. */
  open(file: RemoteFile): Promise<Shelf | undefined>;
}

/** Reads a cached file. Damaged pieces are downloaded again, with a warning. */
export async function* readKept(
  kept: KeptFile,
  name: string,
  signal: AbortSignal | undefined,
  repair: Repair,
): AsyncGenerator<Uint8Array> {
  const { size, shelf } = kept;
  const tell = () => {
    const message = `${name} had changed in ${shelf.where}: it is fetched again`;
    warn({ code: 'damaged_cache', message });
  };
  if (!(await kept.isSound(signal))) {
    const given = await repair.describe();
    tell();
    await shelf.drop().catch(() => {}); // a read-only folder
    return yield* download(given, await repair.open(given.file));
  }
  const read = piecesOf(kept, repair, tell);
  let next = read(0);
  for (let index = 0; index < pieceCount(size); index++) {
    signal?.throwIfAborted();
    const piece = await next;
    if (index + 1 < pieceCount(size)) {
      next = read(index + 1); // read ahead while the consumer works on this one
      next.catch(() => {});
    }
    for (let start = 0; start < piece.byteLength; start += partBytes) {
      signal?.throwIfAborted();
      yield piece.slice(start, start + partBytes);
    }
  }
}

/** Reads pieces of a cached file, which are repaired if necessary. */
function piecesOf({ shelf, size }: KeptFile, { describe }: Repair, tell: () => void) {
  // Once each:
  let tellChanged: typeof tell | undefined = tell;
  let tellNotKept: typeof notKept | undefined = notKept;
  return async (index: number): Promise<Uint8Array> => {
    const length = lengthOfPiece(index, size);
    const piece = await shelf.get(index);
    if (piece?.byteLength === length) return piece;
    const { file, place, signal } = await describe();
    tellChanged?.();
    tellChanged = undefined;
    const from = index * pieceBytes;
    const fetched = await collected(bytesOf(file, { from, to: from + length }, place, signal), length);
    const expected = await shelf.digest(index);
    if (expected !== undefined && expected !== (await (await digests()).sha256Of(fetched))) {
      await shelf.drop().catch(() => {});
      const message = `${file.name}: ${file.href} and what is kept of it differ; nothing is kept any more: load it again`;
      throw new ClearformerError('integrity_mismatch', message, { file: file.name, where: file.href });
    }
    await shelf.put(index, fetched).catch((cause: unknown) => {
      tellNotKept?.(file.name, shelf.where, cause);
      tellNotKept = undefined;
    });
    return fetched;
  };
}

const partBytes = 1 << 20; // small, so that an abort takes effect at once
