// The client of the worker: starts it, matches results to calls, and turns its death into a typed error.

import { copyOf, giveBack, hasOwnMemory } from '../support/chunk_memory.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { abortable, onAbort, throwIfAborted } from '../support/options.js';
import { loadPart } from '../support/platform.js';
import type { ArgumentsOf, BorderName, Handle, ValueOf } from './border.js';
import { type Engine, noMemory, once } from './engine.js';
import { callsOfFirst } from './first_calls.js';
import type { GetPart } from './parts.js';
import type { ThreadPool } from './thread_pool.js';
import type { Threads } from './threads.js';
import type { CompiledCore } from './wasm.js';
import { type Reply, type Request, unpackError } from './worker_protocol.js';
import { type LiveWorker, startWorker } from './workers.js';

type RequestWithoutId = Request extends infer R ? (R extends Request ? Omit<R, 'id'> : never) : never;

interface Pending {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
  /** Removes the listener from the caller's signal. */
  forget(): void;
}

/** A core in a worker of its own. Closing terminates the worker, which releases all its memory. */
export class WorkerEngine implements Engine {
  readonly remote = true;
  isWhole = false;
  wasmBytes = 0;
  heapBytes = 0;
  threads: Threads;
  memory = noMemory;
  readonly #starting: Promise<LiveWorker>;
  #worker: LiveWorker | undefined;
  #pool: ThreadPool | undefined;
  readonly #pending = new Map<number, Pending>();
  readonly #over = new AbortController();
  readonly #lose = (why: string) => this.#die(new ClearformerError('worker_failed', `${why}; load the model anew`));
  #lastId = 0;

  readonly whole: () => Promise<void>;

  private constructor(threads: Threads, second: GetPart) {
    this.threads = threads;
    this.whole = once(async () => {
      const { module, bytes } = await second();
      this.#pool?.add(bytes);
      await this.#ask({ kind: 'add', part: module }, []);
      this.wasmBytes += bytes.byteLength;
      this.isWhole = true;
    });
    this.#starting = startWorker({ heard: (reply) => this.#receive(reply as Reply), died: this.#lose });
  }

  /** Starts the worker at once, and its core when it is compiled. */
  static async start(compiling: Promise<CompiledCore>, threads: Threads, second: GetPart): Promise<WorkerEngine> {
    const engine = new WorkerEngine(threads, second);
    try {
      await abortable(engine.#start(compiling), engine.over);
      return engine;
    } catch (thrown) {
      void engine.close();
      throw thrown;
    }
  }

  async #start(compiling: Promise<CompiledCore>): Promise<void> {
    const [worker, compiled] = await Promise.all([this.#starting, compiling]);
    this.#worker = worker;
    this.wasmBytes = compiled.bytes;
    const { threads } = this;
    const memory = (await this.#ask({ kind: 'start', compiled }, [])) as WebAssembly.Memory | undefined;
    compiled.tested = true; // in the worker
    if (memory === undefined || threads.used === 1) return;
    const { startThreads } = await loadPart(() => import('./thread_pool.js'));
    const wanted = { engine: this, compiled, memory, threads, caller_may_sleep: true, died: this.#lose };
    this.#pool = await startThreads(wanted);
    this.threads = this.#pool.threads;
    if (this.over.aborted) this.#pool.end();
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  async call<N extends BorderName>(name: N, given: ArgumentsOf<N>, signal?: AbortSignal): Promise<ValueOf<N>> {
    if (!(this.isWhole || callsOfFirst.test(name))) await this.whole();
    const value = await this.#ask({ kind: 'call', name, given }, [], signal);
    if (value === undefined) throwIfAborted(signal);
    return value as ValueOf<N>;
  }

  async write(checkpoint: Handle, chunk: Uint8Array, borrowed: boolean): Promise<void> {
    const sent = hasOwnMemory(chunk) && !borrowed ? chunk : copyOf(chunk);
    giveBack((await this.#ask({ kind: 'write', checkpoint, chunk: sent }, [sent.buffer as ArrayBuffer])) as Uint8Array);
  }

  async close(): Promise<void> {
    this.#die(new ClearformerError('disposed', 'this model was disposed'));
    await this.#starting.then((worker) => worker.end()).catch(() => {}); // one that did not start needs no termination
  }

  /** The worker says whether a call was aborted, after at most one layer: it may have been complete. */
  #ask(request: RequestWithoutId, transfer: ArrayBuffer[], signal?: AbortSignal): Promise<unknown> {
    if (this.over.aborted) return Promise.reject(this.over.reason);
    throwIfAborted(signal);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const abort = () => this.#worker?.send({ kind: 'cancel', id }, []);
      this.#pending.set(id, { resolve, reject, forget: onAbort(signal, abort) });
      this.#worker?.busy(true);
      this.#send({ ...request, id } as Request, transfer);
    });
  }

  #send(request: Request, transfer: ArrayBuffer[]): void {
    try {
      this.#worker?.send(request, transfer);
    } catch (cause) {
      this.#settle(request.id)?.reject(
        new ClearformerError('invalid_argument', `this cannot be sent to a worker (${messageOf(cause)})`, {}, cause),
      );
    }
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.forget();
    if (this.#pending.size === 0) this.#worker?.busy(false);
    return pending;
  }

  #receive(reply: Reply): void {
    this.heapBytes = reply.heapBytes;
    this.memory = reply.memory;
    const pending = this.#settle(reply.id);
    if (reply.kind === 'value') pending?.resolve(reply.value);
    else pending?.reject(reply.thrown ? reply.thrown.value : unpackError(reply.error));
  }

  #die(error: ClearformerError): void {
    if (this.over.aborted) return;
    this.#over.abort(error);
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(error);
    this.#pool?.end();
    void this.close();
  }
}
