// The interface of download caches: a file is stored in pieces of equal size, each with a checksum, so that an
// interrupted download resumes and damage is detected and repaired piece by piece.

import type { RemoteFile } from './remote_file.js';

/**
 * Bytes per piece; a file's last one is shorter. At most this much is lost if a tab or a process ends during a
 * download.
 */
export const pieceBytes = 4 << 20;

/** The number of pieces of a file of this size. An empty file has one, which is empty. */
export function pieceCount(size: number): number {
  return Math.max(1, Math.ceil(size / pieceBytes));
}

/** The length of a piece of a file of this size. */
export function lengthOfPiece(index: number, size: number): number {
  return Math.min(pieceBytes, size - index * pieceBytes);
}

/** The storage of one file. */
export interface Shelf {
  /** Its location, for messages. */
  readonly where: string;
  /** A piece, possibly incomplete; undefined if there is none, or if it differs from what was stored. */
  get(index: number): Promise<Uint8Array | undefined>;
  /** The SHA-256 of a piece when it was stored, whether or not it has changed since. */
  digest(index: number): Promise<string | undefined>;
  /** Stores a piece, replacing a previous one. Rejects if there is no space. */
  put(index: number, bytes: Uint8Array): Promise<void>;
  /** Stores the last piece, after all others have been verified: from now on the file can be found. */
  finish(index: number, bytes: Uint8Array): Promise<void>;
  /** Signals progress to waiting processes. */
  touch(): void;
  /** Removes everything stored. */
  drop(): Promise<void>;
  /** Releases the lock. */
  close(): Promise<void>;
}

/** A complete cached file. */
export interface KeptFile {
  readonly size: number;
  /** The server's version of it; undefined if the store does not know. */
  readonly version: string | undefined;
  readonly shelf: Shelf;
  /** Whether its pieces, or else its version if that is a checksum, prove it intact. */
  isSound(signal: AbortSignal | undefined): Promise<boolean>;
}

/** The cache of one folder's files. */
export interface Store {
  /** The cached file of that name, without asking the server; `absent` if the server is known not to have it. */
  find(name: string): Promise<KeptFile | 'absent' | undefined>;
  /** The cached copy of exactly this file. */
  match(file: RemoteFile): Promise<KeptFile | undefined>;
  /** Records that the server does not have the file at this commit, or now if the commit is unknown. */
  leaveOut(name: string, commit: string | undefined): Promise<void>;
  /** The storage for a file, once no other process is writing it; undefined if it cannot be cached. */
  open(file: RemoteFile, signal: AbortSignal | undefined): Promise<Shelf | undefined>;
}

/** A cached file. */
export interface CachedFile {
  /** Its name in the repository; for an incomplete download on disk the name of its blob. */
  file: string;
  /** Its commit; if unknown, the requested revision; empty if there is neither. */
  revision: string;
  bytes: number;
  /** Whether it is complete; the rest of an interrupted download is fetched next time. */
  complete: boolean;
}

/** The cached files of one source. */
export interface CachedModel {
  /** The Hub id, or the URL of the folder. */
  source: string;
  /** The folder, or the name of the browser's cache. */
  where: string;
  /** Total size in bytes. */
  bytes: number;
  files: CachedFile[];
}
