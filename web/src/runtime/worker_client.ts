// The client of the worker: starts it, matches results to calls, and turns its death into a typed error.

import { copyOf, giveBack, hasOwnMemory } from '../support/chunk_memory.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { abortable, onAbort, throwIfAborted } from '../support/options.js';
import type { ArgumentsOf, BorderName, Handle, ValueOf } from './border.js';
import { CoreEngine } from './core_engine.js';
import { disposed, noMemory } from './engine.js';
import type { LiveWorker } from './live_worker.js';
import type { GetPart } from './parts.js';
import type { Threads } from './threads.js';
import type { CompiledCore } from './wasm.js';
import { type Reply, type Request, unpackError } from './worker_protocol.js';
import { startWorker } from './workers.js';

type RequestWithoutId = Request extends infer R ? (R extends Request ? Omit<R, 'id'> : never) : never;

interface Pending {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
  /** Removes the listener from the caller's signal. */
  forget(): void;
}

/** A core in a worker of its own. Closing terminates the worker, which releases all its memory. */
export class WorkerEngine extends CoreEngine {
  readonly remote = true;
  heapBytes = 0;
  memory = noMemory;
  readonly #starting: Promise<LiveWorker>;
  #worker: LiveWorker | undefined;
  readonly #pending = new Map<number, Pending>();
  readonly #lose = (why: string) => this.#die(new ClearformerError('worker_failed', `${why}; load the model anew`));
  #lastId = 0;

  private constructor(threads: Threads, part: GetPart) {
    super(threads, part);
    this.#starting = startWorker({ heard: (reply) => this.#receive(reply as Reply), died: this.#lose });
  }

  /** Starts the worker at once, and its core when it is compiled. */
  static async start(compiling: Promise<CompiledCore>, threads: Threads, part: GetPart): Promise<WorkerEngine> {
    const engine = new WorkerEngine(threads, part);
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
    const memory = (await this.#ask({ kind: 'start', compiled })) as WebAssembly.Memory | undefined;
    compiled.tested = true; // in the worker
    await this.startPool(compiled, memory, true, this.#lose);
  }

  protected run<N extends BorderName>(
    name: N,
    given: ArgumentsOf<N>,
    signal: AbortSignal | undefined,
  ): Promise<ValueOf<N> | undefined> {
    return this.#ask({ kind: 'call', name, given }, [], signal) as Promise<ValueOf<N> | undefined>;
  }

  protected add(part: WebAssembly.Module): Promise<unknown> {
    return this.#ask({ kind: 'add', part });
  }

  async write(checkpoint: Handle, chunk: Uint8Array, borrowed: boolean): Promise<void> {
    const sent = hasOwnMemory(chunk) && !borrowed ? chunk : copyOf(chunk);
    giveBack((await this.#ask({ kind: 'write', checkpoint, chunk: sent }, [sent.buffer as ArrayBuffer])) as Uint8Array);
  }

  async close(): Promise<void> {
    this.#die(disposed());
    await this.#starting.then((worker) => worker.end()).catch(() => {}); // one that did not start needs no termination
  }

  /** The worker says whether a call was aborted, after at most one layer: it may have been complete. */
  #ask(request: RequestWithoutId, transfer: ArrayBuffer[] = [], signal?: AbortSignal): Promise<unknown> {
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
    this.end(error);
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(error);
    void this.close();
  }
}
