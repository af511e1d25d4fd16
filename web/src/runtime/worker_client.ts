// This thread's side of the worker: starts it, matches answers to calls, and turns its death into a typed error.

import { configuration } from '../support/config.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { throwIfAborted } from '../support/options.js';
import { isNode } from '../support/platform.js';
import { assets } from './assets.js';
import type { ArgumentsOf, BorderName, Handle, ValueOf } from './border.js';
import { type Engine, noMemory } from './engine.js';
import type { Threads } from './threads.js';
import type { ReadyCore } from './wasm.js';
import { type Reply, type Request, type Started, unpackError } from './worker_protocol.js';
import { startBrowserWorker, startNodeWorker } from './workers.js';

type RequestWithoutId = Request extends infer R ? (R extends Request ? Omit<R, 'id'> : never) : never;

interface Pending {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** The same few things of a browser's and of Node's worker. */
interface Thread {
  send(request: Request, transfer: ArrayBuffer[]): void;
  listen(onReply: (reply: Reply) => void, onDeath: (why: string) => void): void;
  /** Whether answers are awaited: only then must the thread keep the process alive. */
  busy(yes: boolean): void;
  end(): Promise<void>;
}

/** A core in a worker of its own. Closing ends the worker, which gives back all its memory. */
export class WorkerEngine implements Engine {
  readonly remote = true;
  wasmBytes = 0;
  heapBytes = 0;
  threads: Threads = { used: 1, reason: '' };
  memory = noMemory;
  readonly #thread: Thread;
  readonly #pending = new Map<number, Pending>();
  readonly #closed = new AbortController();
  #lastId = 0;
  #dead: ClearformerError | undefined;

  private constructor(thread: Thread) {
    this.#thread = thread;
    thread.listen(
      (reply) => this.#receive(reply),
      (why) => this.#die(new ClearformerError('worker_failed', why)),
    );
  }

  /** Starts the worker at once; its core when it is compiled. */
  static async start(compiling: Promise<ReadyCore>): Promise<WorkerEngine> {
    const engine = new WorkerEngine(startThread());
    try {
      const { compiled, threads } = await compiling;
      engine.wasmBytes = compiled.bytes;
      const lock = `clearformer-${Date.now()}-${Math.random()}`;
      const started = (await engine.#ask({ kind: 'start', compiled, threads, lock }, [])) as Started;
      engine.threads = started.threads;
      if (started.held) engine.#watch(lock);
      return engine;
    } catch (thrown) {
      await engine.close();
      throw thrown;
    }
  }

  async call<N extends BorderName>(name: N, given: ArgumentsOf<N>, signal?: AbortSignal): Promise<ValueOf<N>> {
    return (await this.#ask({ kind: 'call', name, given }, [], signal)) as ValueOf<N>;
  }

  async write(checkpoint: Handle, chunk: Uint8Array, borrowed: boolean): Promise<void> {
    const whole = chunk.byteLength === chunk.buffer.byteLength && chunk.buffer instanceof ArrayBuffer;
    const sent = whole && !borrowed ? chunk : chunk.slice();
    await this.#ask({ kind: 'write', checkpoint, chunk: sent }, [sent.buffer as ArrayBuffer]);
  }

  async close(): Promise<void> {
    this.#die(new ClearformerError('disposed', 'this model was disposed'));
    await this.#thread.end();
  }

  #ask(request: RequestWithoutId, transfer: ArrayBuffer[], signal?: AbortSignal): Promise<unknown> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    throwIfAborted(signal);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const abort = () => {
        if (this.#settle(id) === undefined) return;
        this.#thread.send({ kind: 'cancel', id }, []);
        reject(signal?.reason);
      };
      const forget = () => signal?.removeEventListener('abort', abort);
      signal?.addEventListener('abort', abort, { once: true });
      this.#pending.set(id, {
        resolve: (value) => {
          forget();
          resolve(value);
        },
        reject: (reason) => {
          forget();
          reject(reason);
        },
      });
      this.#thread.busy(true);
      this.#send({ ...request, id } as Request, transfer);
    });
  }

  #send(request: Request, transfer: ArrayBuffer[]): void {
    try {
      this.#thread.send(request, transfer);
    } catch (cause) {
      this.#settle(request.id)?.reject(
        new ClearformerError('invalid_argument', `this cannot be sent to a worker (${messageOf(cause)})`, {}, cause),
      );
    }
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#thread.busy(false);
    return pending;
  }

  #receive(reply: Reply): void {
    this.heapBytes = reply.heapBytes;
    this.memory = reply.memory;
    const pending = this.#settle(reply.id);
    if (reply.kind === 'value') pending?.resolve(reply.value);
    else pending?.reject(unpackError(reply.error));
  }

  #die(error: ClearformerError): void {
    if (this.#dead !== undefined) return;
    this.#dead = error;
    this.#closed.abort();
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(error);
  }

  /** A worker that the browser kills for want of memory reports nothing; but the lock it holds becomes free. */
  #watch(lock: string): void {
    const died = () =>
      this.#die(
        new ClearformerError(
          'worker_failed',
          'the worker ended without a word (most often: out of memory); load the model anew',
        ),
      );
    navigator.locks.request(lock, { signal: this.#closed.signal }, died).catch(() => {});
  }
}

const remedy = 'set workerUrl to where worker.js is served, import from clearformer/inline, or pass worker: false';

function startThread(): Thread {
  try {
    return isNode() ? nodeThread() : browserThread();
  } catch (cause) {
    throw new ClearformerError(
      'worker_failed',
      `the worker could not be started (${messageOf(cause)}): ${remedy}`,
      {},
      cause,
    );
  }
}

function browserThread(): Thread {
  const { workerUrl } = configuration;
  const worker = startBrowserWorker(
    () => (workerUrl === undefined ? assets.startWorker() : new Worker(workerUrl, { type: 'module' })),
    () => workerUrl ?? assets.workerUrl(),
  );
  return {
    send: (request, transfer) => worker.postMessage(request, transfer),
    listen: (onReply, onDeath) => {
      worker.onmessage = (event: MessageEvent<Reply>) => onReply(event.data);
      worker.onmessageerror = () => onDeath('the worker sent what cannot be read');
      worker.onerror = (event) => {
        event.preventDefault?.();
        onDeath(`the worker failed (${event.message || 'its script could not be loaded'}): ${remedy}`);
      };
    },
    busy: () => {},
    end: async () => worker.terminate(),
  };
}

function nodeThread(): Thread {
  const worker = startNodeWorker(configuration.workerUrl ?? assets.workerUrl());
  worker.unref();
  return {
    send: (request, transfer) => worker.postMessage(request, transfer),
    listen: (onReply, onDeath) => {
      worker.on('message', onReply);
      worker.on('error', (error) => onDeath(`the worker failed (${messageOf(error)}): ${remedy}`));
      worker.on('exit', (code) => onDeath(`the worker ended with code ${code}; load the model anew`));
    },
    busy: (yes) => (yes ? worker.ref() : worker.unref()),
    end: async () => void (await worker.terminate()),
  };
}
