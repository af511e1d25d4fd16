// The cache folder outside the clone, shared by all clones: its location, a lock for writers, and folders that are
// either complete or absent, even if a run that makes them is interrupted.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir, hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

import { codeOf, SetupError, step } from './progress.js';

const lockRefreshMs = 5_000;
const lockStaleMs = 60_000;

export function cacheFolder(): string {
  const { CLEARFORMER_CACHE, XDG_CACHE_HOME } = process.env;
  if (CLEARFORMER_CACHE) return resolve(CLEARFORMER_CACHE);
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'clearformer');
}

function makeCacheFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new SetupError(
      `The cache folder ${folder} can't be made (${codeOf(error)}).\n` +
        'Set CLEARFORMER_CACHE to a folder that you may write, outside the clone.',
    );
  }
}

const stampFile = (folder: string): string => `${folder}.complete`;

/** Whether `folder` exists as made by the recipe `key`. */
export function isComplete(folder: string, key: string): boolean {
  return existsSync(folder) && existsSync(stampFile(folder)) && readFileSync(stampFile(folder), 'utf8') === key;
}

/**
 * Makes `folder` by `make(temporaryFolder)`, once per recipe `key`. The temporary folder is renamed when it is
 * complete and the stamp is written last, so that a killed run leaves nothing that looks complete.
 */
export async function completeFolder(
  folder: string,
  key: string,
  make: (temporary: string) => Promise<unknown>,
): Promise<string> {
  if (isComplete(folder, key)) return folder;
  return withLock(async () => {
    if (isComplete(folder, key)) return folder;
    const temporary = `${folder}.unfinished-${process.pid}`;
    for (const path of [stampFile(folder), ...leftovers(folder), folder]) remove(path);
    mkdirSync(temporary, { recursive: true });
    try {
      await make(temporary);
    } catch (error) {
      remove(temporary);
      throw error;
    }
    renameSync(temporary, folder);
    markComplete(folder, key);
    return folder;
  });
}

const remove = (path: string): void => rmSync(path, { recursive: true, force: true, maxRetries: 5 });

// Remains of killed runs. Their child processes may still be writing, so names are not reused.
function leftovers(folder: string): string[] {
  const names = readdirSync(dirname(folder)).filter((name) => name.startsWith(`${basename(folder)}.unfinished-`));
  return names.map((name) => join(dirname(folder), name));
}

function markComplete(folder: string, key: string): void {
  writeFileSync(`${stampFile(folder)}.new`, key);
  renameSync(`${stampFile(folder)}.new`, stampFile(folder));
}

let lockDepth = 0;
/** What the lock says of its holder. */
const holder = `${hostname()} ${process.pid}`;

/** Does something to the lock if it is still this process's: after a suspension another run may have taken it over. */
function ifOurs(lock: string, work: () => void): void {
  try {
    if (readFileSync(lock, 'utf8') === holder) work();
  } catch {
    // it is gone, or becomes stale by itself
  }
}

/** Runs `work` while holding the cache's write lock. A lock whose holder has died is taken over. */
export async function withLock<T>(work: () => Promise<T>): Promise<T> {
  const lock = join(cacheFolder(), 'lock');
  if (lockDepth === 0) await takeLock(lock);
  lockDepth += 1;
  const timer = setInterval(() => ifOurs(lock, () => utimesSync(lock, new Date(), new Date())), lockRefreshMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    lockDepth -= 1;
    if (lockDepth === 0) ifOurs(lock, () => rmSync(lock, { force: true }));
  }
}

async function takeLock(lock: string): Promise<void> {
  makeCacheFolder(cacheFolder());
  if (tryLock(lock)) return;
  await step(`Waiting for another run that is filling ${cacheFolder()}`, async () => {
    while (!tryLock(lock)) await new Promise((wake) => setTimeout(wake, 500));
  });
}

function tryLock(lock: string): boolean {
  try {
    writeFileSync(lock, holder, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  if (holderIsGone(lock)) rmSync(lock, { force: true });
  return false;
}

function holderIsGone(lock: string): boolean {
  try {
    const [host = '', pid = ''] = readFileSync(lock, 'utf8').split(' ');
    if (Date.now() - statSync(lock).mtimeMs > lockStaleMs) return true;
    return host === hostname() && !isAlive(Number(pid));
  } catch (error) {
    return codeOf(error) !== 'ENOENT';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
