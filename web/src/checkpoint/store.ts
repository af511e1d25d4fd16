// What keeps downloads: a file is kept in pieces of one size, each with a checksum, so that a download goes on where it broke
// off and damage is found, and mended, piece by piece.

import type { RemoteFile } from './remote_file.js';

/** Bytes of a piece; a file's last one is shorter. What is lost at most when a tab or a process ends in a download. */
export const pieceBytes = 4 << 20;

/** How many pieces a file of this size has. An empty file has one, which is empty. */
export function pieceCount(size: number): number {
  return Math.max(1, Math.ceil(size / pieceBytes));
}

/** How long a piece of a file of this size is. */
export function lengthOfPiece(index: number, size: number): number {
  return Math.min(pieceBytes, size - index * pieceBytes);
}

/** The place of one file. */
export interface Shelf {
  /** Where it is, for messages. */
  readonly where: string;
  /** A piece as far as it is kept; undefined where there is none, or not what was put there. */
  get(index: number): Promise<Uint8Array | undefined>;
  /** The SHA-256 of a piece that was put there, whether or not it is still the same. */
  digest(index: number): Promise<string | undefined>;
  /** Keeps a piece, in place of what is there. Rejects where there is no room. */
  put(index: number, bytes: Uint8Array): Promise<void>;
  /** Keeps the last piece. All others are there, and right: from now on the file is found. */
  finish(index: number, bytes: Uint8Array): Promise<void>;
  /** Tells others who wait that bytes arrive. */
  touch(): void;
  /** Forgets all of it. */
  drop(): Promise<void>;
  /** Lets others have it. */
  close(): Promise<void>;
}

/** A file that is kept whole. */
export interface KeptFile {
  readonly size: number;
  /** What the server called the version; undefined where the store does not know. */
  readonly version: string | undefined;
  readonly shelf: Shelf;
  /** Whether its pieces have checksums, or else all of it has the one that it is named by. */
  isSound(signal: AbortSignal | undefined): Promise<boolean>;
}

/** Keeps the files of one folder. */
export interface Store {
  /** What is kept under a name, as far as can be told without asking the server; `absent` if the server has no such file. */
  find(name: string): Promise<KeptFile | 'absent' | undefined>;
  /** What is kept of just this file. */
  match(file: RemoteFile): Promise<KeptFile | undefined>;
  /** Remembers that the server has no such file at this commit, or now where that is not known. */
  leaveOut(name: string, commit: string | undefined): Promise<void>;
  /** The place for a file, once nobody else is filling it; undefined where it cannot be kept. */
  open(file: RemoteFile, signal: AbortSignal | undefined): Promise<Shelf | undefined>;
}

/** A file that is kept. */
export interface CachedFile {
  /** Its name in the repository; of an unfinished download on disk the name of its blob. */
  file: string;
  /** The commit it is of; where that is not known the revision that was asked for; empty where there is neither. */
  revision: string;
  bytes: number;
  /** Whether all of it is there; the rest of a download that broke off is fetched the next time. */
  complete: boolean;
}

/** The files that are kept of one source. */
export interface CachedModel {
  /** The Hub id, or the URL of the folder. */
  source: string;
  /** The folder, or the name of the browser's cache. */
  where: string;
  /** Bytes that they take together. */
  bytes: number;
  files: CachedFile[];
}
