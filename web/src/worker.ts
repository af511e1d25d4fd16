// The worker's side: one core, calls one after the other. Before each, and between the layers of long ones, it returns to
// the event loop, so that a `cancel` that was sent meanwhile is seen.

import type { MemoryUse } from './runtime/border.js';
import { Core } from './runtime/core.js';
import { noMemory } from './runtime/engine.js';
import { isPaced, runPaced } from './runtime/paced.js';
import { buffersOf, packError, type Reply, type Request, type Started } from './runtime/worker_protocol.js';
import { ClearformerError } from './support/error.js';
import { isNode, nextTurn, nodeModule } from './support/platform.js';

interface Port {
  send(reply: Reply, transfer: ArrayBuffer[]): void;
  listen(handle: (request: Request) => void): void;
}

type Job = Exclude<Request, { kind: 'cancel' }>;

const port = isNode() ? nodePort() : browserPort();
const waiting: Job[] = [];
let working = false;
let core: Core | undefined;
/** The job that is under way, and whether nobody waits for it any more. */
let current: { id: number; cancelled: boolean } | undefined;

port.listen((request) => {
  if (request.kind !== 'cancel') {
    waiting.push(request);
    if (!working) void work();
    return;
  }
  const index = waiting.findIndex((job) => job.id === request.id);
  if (index >= 0) waiting.splice(index, 1);
  if (current?.id === request.id) current.cancelled = true;
});

async function work(): Promise<void> {
  working = true;
  do {
    await nextTurn();
    const job = waiting.shift();
    if (job !== undefined) await answer(job);
  } while (waiting.length > 0);
  working = false;
}

async function answer(job: Job): Promise<void> {
  const { id } = job;
  const state = { id, cancelled: false };
  current = state;
  try {
    const value = await run(job, () => state.cancelled);
    port.send({ kind: 'value', id, value, ...use() }, buffersOf(value));
  } catch (thrown) {
    port.send({ kind: 'error', id, error: packError(thrown), ...use() }, []);
  }
}

function use(): { heapBytes: number; memory: MemoryUse } {
  return { heapBytes: core?.heapBytes ?? 0, memory: core?.memory ?? noMemory };
}

async function run(job: Job, cancelled: () => boolean): Promise<unknown> {
  if (job.kind === 'start') {
    core = await Core.start(job.compiled, job.threads);
    const started: Started = { held: await holdLock(job.lock), threads: core.threads };
    return started;
  }
  if (core === undefined) throw new ClearformerError('internal', `worker: ${job.kind} before start`);
  if (job.kind === 'write') {
    core.write(job.checkpoint, job.chunk);
    return null;
  }
  const given = job.given as never;
  return isPaced(job.name) ? runPaced(core, job.name, given, cancelled) : core.run(job.name, given);
}

/** Takes a lock that only this worker's end frees, which no event reports. Resolves to whether it is held. */
function holdLock(name: string): Promise<boolean> {
  if (isNode() || navigator.locks === undefined) return Promise.resolve(false);
  return new Promise((held) => {
    const hold = () => {
      held(true);
      return new Promise(() => {});
    };
    navigator.locks.request(name, hold).catch(() => held(false)); // a page without an origin has no locks
  });
}

function browserPort(): Port {
  const scope = globalThis as unknown as {
    postMessage(reply: Reply, transfer: ArrayBuffer[]): void;
    onmessage: (event: MessageEvent<Request>) => void;
  };
  return {
    send: (reply, transfer) => scope.postMessage(reply, transfer),
    listen: (handle) => {
      scope.onmessage = (event) => handle(event.data);
    },
  };
}

function nodePort(): Port {
  const { parentPort } = nodeModule('node:worker_threads');
  if (parentPort === null)
    throw new ClearformerError('worker_failed', 'worker.js is no module to import: it runs in a worker');
  return {
    send: (reply, transfer) => parentPort.postMessage(reply, transfer),
    listen: (handle) => parentPort.on('message', handle),
  };
}
