// Threads: how many a model may have and why not more, and the pool of workers that serve them.

import { configuration } from '../support/config.js';
import { ClearformerError, messageOf, textOf } from '../support/error.js';
import { isNode } from '../support/platform.js';
import { assets } from './assets.js';
import { startBrowserWorker, startNodeWorker } from './workers.js';

/** Threads that compute, and why not more. */
export interface Threads {
  used: number;
  reason: string;
}

/** Half of the logical processors of most machines; more share its memory's bandwidth and gain little. */
const most = 4;
/** The core's limit (kMaxThreads of thread_pool.h). */
const limit = 64;

const isolation =
  'the page is not cross-origin isolated: serve it with the headers Cross-Origin-Opener-Policy: same-origin ' +
  'and Cross-Origin-Embedder-Policy: require-corp';

function one(reason: string): Threads {
  return { used: 1, reason };
}

/** How many threads to try for. Throws `invalid_argument` for what is no number of threads. */
export function planThreads(given: number | 'auto' | undefined): Threads {
  const wanted = given ?? configuration.numThreads ?? 'auto';
  if (wanted !== 'auto' && !(Number.isInteger(wanted) && wanted >= 1 && wanted <= limit)) {
    throw new ClearformerError(
      'invalid_argument',
      `numThreads must be 'auto' or a whole number from 1 to ${limit}, not ${textOf(wanted)}`,
      { option: 'numThreads' },
    );
  }
  if (wanted === 1) return one('numThreads is 1');
  if (isNode())
    return wanted === 'auto'
      ? one('outside browsers there is one thread unless numThreads asks for more')
      : asked(wanted);
  if (globalThis.crossOriginIsolated !== true) return one(isolation);
  if (typeof Worker !== 'function') return one('no workers can be started here');
  if (wanted !== 'auto') return asked(wanted);
  const processors = navigator.hardwareConcurrency || 1;
  const used = Math.min(processors, most);
  return {
    used,
    reason: `numThreads is 'auto' and this machine has ${processors} processors; at most ${most} are used`,
  };
}

function asked(used: number): Threads {
  return { used, reason: `numThreads is ${used}` };
}

/** Whether the thread that makes calls may wait for the others asleep: all but a page's own may. */
export function maySleep(): boolean {
  return isNode() || typeof document === 'undefined';
}

/** What each thread is told; thread.ts has the other side of it. */
export interface Orders {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  entry: number;
  failed: number;
}

/** A thread's worker, the same in browsers and in Node. */
interface Member {
  send(orders: Orders & { slot: number }): void;
  end(): void;
  /** Resolves when it serves, rejects when it cannot. */
  readonly ready: Promise<void>;
}

/** How long a thread may take to start, in milliseconds: some page loads are slow, none as slow as this. */
const patience = 20_000;

/** Workers that serve the pool of one core. */
export class ThreadPool {
  readonly #members: readonly Member[];

  private constructor(members: readonly Member[]) {
    this.#members = members;
  }

  /** Starts a thread for each slot. Rejects, with none left, unless all of them come to serve. */
  static async start(orders: Orders, slots: readonly number[]): Promise<ThreadPool> {
    const members: Member[] = [];
    const pool = new ThreadPool(members);
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      for (const slot of slots) {
        const member = isNode() ? nodeMember() : browserMember();
        members.push(member);
        member.ready.catch(() => {}); // of several that fail the first is told
        member.send({ ...orders, slot });
      }
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`it did not start in ${patience / 1000} s`)), patience);
      });
      await Promise.race([Promise.all(members.map(({ ready }) => ready)), late]);
      return pool;
    } catch (cause) {
      pool.end();
      throw cause;
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    for (const member of this.#members) member.end();
  }
}

function browserMember(): Member {
  const worker = startBrowserWorker(assets.startThread, assets.threadUrl);
  const ready = new Promise<void>((resolve, reject) => {
    worker.onmessage = () => resolve();
    worker.onmessageerror = () => reject(new Error('the memory cannot be shared with a worker'));
    worker.onerror = (event) => {
      event.preventDefault?.();
      reject(new Error(event.message || 'its script could not be loaded'));
    };
  });
  return { ready, send: (orders) => worker.postMessage(orders), end: () => worker.terminate() };
}

function nodeMember(): Member {
  const worker = startNodeWorker(assets.threadUrl());
  const ready = new Promise<void>((resolve, reject) => {
    worker.once('message', () => {
      worker.unref(); // from now on it only serves: the process may end
      resolve();
    });
    worker.on('error', reject);
    worker.once('exit', (code) => reject(new Error(`it ended with code ${code}`)));
  });
  return { ready, send: (orders) => worker.postMessage(orders), end: () => void worker.terminate() };
}

/** Why there is one thread although more were wanted. */
export function refused(cause: unknown): Threads {
  return one(`the threads could not be started (${messageOf(cause)})`);
}
