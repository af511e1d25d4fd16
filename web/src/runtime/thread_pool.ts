// The pool of workers that serve the loops of one core; serve_thread.ts runs in them. Loaded only when threads are
// used.

import type { Engine } from './engine.js';
import type { LiveWorker } from './live_worker.js';
import { type CorePart, placeIn, roomOfParts, startOfParts } from './parts.js';
import { refused, type Threads } from './threads.js';
import type { CompiledCore } from './wasm.js';
import { startWorker } from './workers.js';

/** The orders for a thread. */
export interface ThreadOrders {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  entry: number;
  failed: number;
  slot: number;
  /** Memory in which the parts will be. */
  parts: SharedArrayBuffer;
}

const pages = roomOfParts / 2 ** 16;

/** Memory for the parts: the place of each (placeIn), then their bytes. */
class SharedParts {
  // WebKitGTK isolates pages, and has shared memory, but no global SharedArrayBuffer.
  readonly memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
    .buffer as unknown as SharedArrayBuffer;
  #end = startOfParts;

  put({ name, bytes }: CorePart): void {
    new Uint8Array(this.memory, this.#end).set(bytes);
    placeIn(this.memory, name).set([this.#end, bytes.byteLength]);
    this.#end += bytes.byteLength;
  }
}

/** The core that gets threads, and the callback for the death of one: the core may wait for it for ever. */
export interface ThreadsWanted {
  engine: Pick<Engine, 'call'>;
  compiled: CompiledCore;
  memory: WebAssembly.Memory;
  threads: Threads;
  /** Whether the calling thread may block while it waits: all but a page's main thread may. */
  caller_may_sleep: boolean;
  died(why: string): void;
}

export interface ThreadPool {
  threads: Threads;
  /** Before functions of a part run: each thread adds it to its instance when it comes upon one. */
  add(part: CorePart): void;
  end(): void;
}

/** Starts as many as requested, or none; then `threads` gives the reason. */
export async function startThreads(wanted: ThreadsWanted): Promise<ThreadPool> {
  const { engine, compiled, memory, threads, caller_may_sleep } = wanted;
  const { slots, end: place, ...entries } = await engine.call('threads_prepare', { threads: threads.used });
  const members: Member[] = [];
  const parts = new SharedParts();
  const add = (part: CorePart) => parts.put(part);
  // WebKit terminates no worker that waits in WebAssembly: it must return to its event loop.
  const end = () => {
    const round = new Int32Array(memory.buffer, place, 1);
    Atomics.or(round, 0, 1);
    Atomics.notify(round, 0);
    for (const member of members) member.end();
  };
  let died = (_: string) => {};
  const lost = new Promise<never>((_, reject) => {
    died = (why) => reject(new Error(why));
  });
  try {
    for (const slot of slots)
      members.push(
        startMember({ module: compiled.module, memory, ...entries, slot, parts: parts.memory }, (why) => died(why)),
      );
    await Promise.race([Promise.all(members.map(({ ready }) => ready)), lost]);
    died = (why) => wanted.died(`a thread of the pool is no more (${why})`);
    await engine.call('threads_use', { threads: threads.used, caller_may_sleep });
  } catch (cause) {
    end();
    return { threads: refused(cause), add, end };
  }
  return { threads, add, end };
}

interface Member {
  /** Resolves when it serves, rejects when it cannot. */
  readonly ready: Promise<void>;
  end(): void;
}

function startMember(orders: ThreadOrders, died: (why: string) => void): Member {
  let serves = () => {};
  const told = new Promise<void>((resolve) => {
    serves = resolve;
  });
  const starting = startWorker({ heard: serves, died });
  const begin = async () => {
    const worker = await starting;
    worker.send(orders, []);
    await told;
    worker.busy(false); // from now on it only serves and must not keep the process alive
  };
  return { ready: begin(), end: () => void starting.then((worker: LiveWorker) => worker.end()).catch(() => {}) };
}
