// The script of the package's workers, of both kinds. A core's worker runs its calls one after the other; before each,
// and between the layers of long ones, it returns to the event loop, so that a `cancel` message sent meanwhile is
// processed. A thread of the pool (runtime/serve_thread.ts) receives its orders and nothing else.

import { functionsPart } from './models/functions_part.js';
import type { MemoryUse, ObservationRequest, SentHook } from './runtime/border.js';
import { Core } from './runtime/core.js';
import { noMemory } from './runtime/engine.js';
import { isPaced, runPaced } from './runtime/paced.js';
import { serveThread } from './runtime/serve_thread.js';
import type { ThreadOrders } from './runtime/thread_pool.js';
import { buffersOf, isOwn, packError, type Reply, type Request, type Sign } from './runtime/worker_protocol.js';
import { ClearformerError } from './support/error.js';
import { isNode, nextTurn, nodeModule } from './support/platform.js';

interface Port {
  send(reply: Reply | Sign, transfer: ArrayBuffer[]): void;
  /** A message that cannot be deserialised, such as memory this engine cannot share, is an error of the worker. */
  listen(handle: (request: Request | ThreadOrders) => void): void;
}

type Job = Exclude<Request, { kind: 'cancel' }>;

const port = isNode() ? nodePort() : browserPort();
const waiting: Job[] = [];
let working = false;
let core: Core | undefined;
/** The current job, whether it was cancelled, and what a function of the caller threw in it. */
let current: { id: number; cancelled: boolean; failure?: { value: unknown } } | undefined;

void sign().then((found) => port.send(found, []));
port.listen((request) => {
  if ('slot' in request) return serveThread(request, () => port.send(true, []));
  if (request.kind !== 'cancel') {
    waiting.push(request);
    if (!working) void work();
    return;
  }
  const index = waiting.findIndex((job) => job.id === request.id);
  if (index >= 0) {
    waiting.splice(index, 1);
    answerValue(request.id, undefined);
  }
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
  const state: NonNullable<typeof current> = { id, cancelled: false };
  current = state;
  try {
    answerValue(id, await run(job, () => state.cancelled));
  } catch (thrown) {
    answerError(id, thrown, state.failure);
  }
}

function answerValue(id: number, value: unknown): void {
  port.send({ kind: 'value', id, value, ...use() }, buffersOf(value));
}

/** An error of a caller's function is answered as it is, if it can be copied. */
function answerError(id: number, thrown: unknown, failure: { value: unknown } | undefined): void {
  const error = packError(failure === undefined ? thrown : failure.value);
  const reply: Reply = { kind: 'error', id, error, ...use() };
  const foreign = failure !== undefined && !isOwn(failure.value);
  try {
    port.send(foreign ? { ...reply, thrown: failure } : reply, []);
  } catch {
    port.send(reply, []);
  }
}

function failed(value: unknown): void {
  if (current) current.failure = { value };
}

/** The arguments of a call, with the functions that were sent, whose code is a file of its own. */
async function withFunctions(given: ObservationRequest & { bwd_hooks?: unknown[] }, runner: Core): Promise<object> {
  const [first] = [...(given.fwd_hooks ?? []), ...(given.bwd_hooks ?? [])] as SentHook[];
  if (first === undefined) return given;
  const { received } = await functionsPart(first.sent.part);
  return received(given, runner, failed);
}

function use(): { heapBytes: number; memory: MemoryUse } {
  return { heapBytes: core?.heapBytes ?? 0, memory: core?.use ?? noMemory };
}

async function run(job: Job, cancelled: () => boolean): Promise<unknown> {
  if (job.kind === 'start') {
    core = await Core.start(job.compiled);
    return core.memory;
  }
  if (core === undefined) throw new ClearformerError('internal', `worker: ${job.kind} before start`);
  if (job.kind === 'add') {
    await core.add(job.part);
    return null;
  }
  if (job.kind === 'write') {
    core.write(job.checkpoint, job.chunk);
    return job.chunk; // its memory
  }
  const given = (await withFunctions(job.given as ObservationRequest, core)) as never;
  return isPaced(job.name) ? runPaced(core, job.name, given, cancelled) : core.run(job.name, given);
}

/**
 * Creates something that only this worker's death releases, since no event reports that: a lock by its name, or a blob
 * URL.
 */
function sign(): Promise<Sign> {
  if (isNode()) return Promise.resolve(null); // events report it there
  const blob = () => URL.createObjectURL(new Blob());
  if (navigator.locks === undefined) return Promise.resolve(blob());
  return new Promise((found) => {
    const hold = () => {
      found(true);
      return new Promise(() => {});
    };
    navigator.locks.request(self.name, hold).catch(() => found(blob())); // a page with an opaque origin has no locks
  });
}

function unreadable(): never {
  throw new Error('the worker was sent what it cannot read');
}

function browserPort(): Port {
  const scope = globalThis as unknown as {
    postMessage(reply: Reply | Sign, transfer: ArrayBuffer[]): void;
    onmessage: (event: MessageEvent<Request | ThreadOrders>) => void;
    onmessageerror: () => void;
  };
  return {
    send: (reply, transfer) => scope.postMessage(reply, transfer),
    listen: (handle) => {
      scope.onmessage = (event) => handle(event.data);
      scope.onmessageerror = unreadable;
    },
  };
}

function nodePort(): Port {
  const { parentPort } = nodeModule('node:worker_threads');
  if (parentPort === null)
    throw new ClearformerError('worker_failed', 'worker.js is no module to import: it runs in a worker');
  return {
    send: (reply, transfer) => parentPort.postMessage(reply, transfer),
    listen: (handle) => parentPort.on('message', handle).on('messageerror', unreadable),
  };
}
