// The worker's side: one core, calls one after the other. Between calls it returns to the event loop, so that a
// `cancel` sent meanwhile is seen before the call it means begins.

import type { BorderName } from './runtime/border.js';
import { Core } from './runtime/core.js';
import { buffersOf, packError, type Reply, type Request } from './runtime/worker_protocol.js';
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

port.listen((request) => {
  if (request.kind !== 'cancel') {
    waiting.push(request);
    if (!working) void work();
    return;
  }
  const index = waiting.findIndex((job) => job.id === request.id);
  if (index >= 0) waiting.splice(index, 1);
});

async function work(): Promise<void> {
  working = true;
  for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
    await answer(job);
    if (waiting.length > 0) await nextTurn();
  }
  working = false;
}

async function answer(job: Job): Promise<void> {
  const { id } = job;
  try {
    const value = await run(job);
    port.send({ kind: 'value', id, value, heapBytes: core?.heapBytes ?? 0 }, buffersOf(value));
  } catch (thrown) {
    port.send({ kind: 'error', id, error: packError(thrown), heapBytes: core?.heapBytes ?? 0 }, []);
  }
}

async function run(job: Job): Promise<unknown> {
  if (job.kind === 'start') {
    holdLock(job.lock);
    core = await Core.start(job.module);
    return null;
  }
  if (core === undefined) throw new ClearformerError('internal', `worker: ${job.kind} before start`);
  if (job.kind === 'write') {
    core.write(job.checkpoint, job.chunk);
    return null;
  }
  return (core.run as (name: BorderName, given: unknown) => unknown).call(core, job.name, job.given);
}

/** A lock that is only ever freed by this worker's end, which no event reports: the page waits for it. */
function holdLock(name: string): void {
  if (isNode() || navigator.locks === undefined) return;
  void navigator.locks.request(name, () => new Promise(() => {}));
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
