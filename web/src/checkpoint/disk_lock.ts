// A lock file beside a file, so that only one process downloads it; its holder touches it while bytes arrive (Node).

import { nodeModule } from '../support/platform.js';

/** A lock that is held. */
export interface DiskLock {
  /** Signals progress to waiting processes. */
  touch(): void;
  release(): Promise<void>;
}

const pollMs = 25;
const touchMs = 1000;
/** A holder silent for longer has died or waits for a server; a second downloader does no harm. */
const staleMs = 10_000;

/**
 * Acquires the lock, waiting as long as necessary. Rejects if it cannot be created, and with the abort signal's reason.
 */
export async function lockFile(path: string, signal: AbortSignal | undefined): Promise<DiskLock> {
  const { mkdir, open, rm, stat, utimes } = nodeModule('node:fs/promises');
  await mkdir(nodeModule('node:path').dirname(path), { recursive: true });
  for (;;) {
    signal?.throwIfAborted();
    const file = await open(path, 'wx').catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'EEXIST') return undefined;
      throw thrown;
    });
    if (file !== undefined) {
      await file.writeFile(String(nodeModule('node:process').pid)).finally(() => file.close());
      break;
    }
    if (await isStale(path)) await rm(path, { force: true });
    else await new Promise((done) => setTimeout(done, pollMs));
  }
  const own = (await stat(path)).ino;
  let touched = Date.now();
  return {
    touch() {
      const now = Date.now();
      if (now - touched < touchMs) return;
      touched = now;
      utimes(path, now / 1000, now / 1000).catch(() => {});
    },
    release: () => releaseOwn(path, own),
  };
}

async function releaseOwn(path: string, own: number): Promise<void> {
  const { rm, stat } = nodeModule('node:fs/promises');
  const found = await stat(path).catch(() => undefined);
  if (found?.ino === own) await rm(path, { force: true }).catch(() => {}); // otherwise another process took it over
}

async function isStale(path: string): Promise<boolean> {
  const { readFile, stat } = nodeModule('node:fs/promises');
  const [found, text] = await Promise.all([stat(path).catch(() => undefined), readFile(path, 'utf8').catch(() => '')]);
  if (found === undefined) return false; // it was released just now
  if (Date.now() - found.mtimeMs > staleMs) return true;
  return /^\d+$/.test(text) && !isRunning(Number(text));
}

/**
 * Whether a process is running; on a shared disk, one on another machine counts only if its pid exists here as well.
 */
function isRunning(pid: number): boolean {
  try {
    nodeModule('node:process').kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}
