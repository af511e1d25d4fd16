// Starts the engine of a model: in this thread, or in a worker (worker_client.ts).

import { giveBack, hasOwnMemory } from '../support/chunk_memory.js';
import { ClearformerError } from '../support/error.js';
import { throwIfAborted } from '../support/options.js';
import { isNode, isPage, loadPart } from '../support/platform.js';
import type { ArgumentsOf, BorderName, Handle, MemoryUse, ValueOf } from './border.js';
import { type Engine, noMemory, once } from './engine.js';
import { callsOfFirst } from './first_calls.js';
import { isPaced, runPaced } from './paced.js';
import type { GetPart } from './parts.js';
import { planThreads, refused, type Threads } from './threads.js';
import { type CompiledCore, chooseVariant, compileCore, isDeterministic, type RuntimeOptions } from './wasm.js';
import { WorkerEngine } from './worker_client.js';

/** How to run a model. */
export interface EngineOptions extends RuntimeOptions {
  /** In a worker (default on a page) or in this thread (default elsewhere). */
  worker?: boolean | undefined;
  /**
   * Number of threads, 1 to 64. `'auto'` (default): on a cross-origin isolated page one per processor, at most
   * four; elsewhere one. If threads are unavailable there is one, and `info().threads` gives the reason. Results have
   * the same bits for every number.
   */
  numThreads?: number | 'auto' | undefined;
}

/** Starts an engine with a core of its own. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const threads = planThreads(options.numThreads);
  chooseVariant(isDeterministic(options)); // reports at once if the engine is too old
  try {
    return await start(options, threads);
  } catch (cause) {
    // WebKit has address space for a dozen shared memories.
    if (threads.used === 1 || (cause as ClearformerError).code !== 'wasm_unavailable') throw cause;
    return start(options, refused(cause));
  }
}

async function start(options: EngineOptions, threads: Threads): Promise<Engine> {
  const compiling = compileCore(options, threads.used > 1);
  const second = async () => {
    const { compileSecond } = await loadPart(() => import('./second_part.js'));
    return compileSecond(await compiling);
  };
  if (options.worker ?? isPage()) {
    return WorkerEngine.start(compiling, threads, second); // the worker loads its script meanwhile
  }
  return LocalEngine.start(await compiling, threads, second);
}

/** The core in this thread. */
class LocalEngine implements Engine {
  readonly remote = false;
  isWhole = false;
  wasmBytes: number;
  threads: Threads;
  #core: import('./core.js').Core | undefined;
  #pool: import('./thread_pool.js').ThreadPool | undefined;
  readonly #over = new AbortController();
  /** The call that returned early and will be repeated; no other call may use the core's workspace meanwhile. */
  #underWay: Promise<unknown> | undefined;

  readonly whole: () => Promise<void>;

  private constructor(core: import('./core.js').Core, wasmBytes: number, threads: Threads, second: GetPart) {
    this.#core = core;
    this.wasmBytes = wasmBytes;
    this.threads = threads;
    this.whole = once(async () => {
      const { module, bytes } = await second();
      this.#pool?.add(bytes);
      await this.#open().add(module);
      this.wasmBytes += bytes.byteLength;
      this.isWhole = true;
    });
  }

  static async start(compiled: CompiledCore, threads: Threads, second: GetPart): Promise<LocalEngine> {
    const { Core } = await loadPart(() => import('./core.js')); // pages with workers do not load the glue here
    const core = await Core.start(compiled);
    const engine = new LocalEngine(core, compiled.bytes, threads, second);
    const { memory } = core;
    if (memory === undefined || threads.used === 1) return engine;
    const { startThreads } = await loadPart(() => import('./thread_pool.js'));
    const died = (why: string) => core.stop(new Error(why));
    const caller_may_sleep = isNode() || typeof document === 'undefined';
    engine.#pool = await startThreads({ engine, compiled, memory, threads, caller_may_sleep, died });
    engine.threads = engine.#pool.threads;
    return engine;
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  get heapBytes(): number {
    return this.#core?.heapBytes ?? 0;
  }

  get memory(): MemoryUse {
    return this.#core?.use ?? noMemory;
  }

  async call<N extends BorderName>(name: N, given: ArgumentsOf<N>, signal?: AbortSignal): Promise<ValueOf<N>> {
    throwIfAborted(signal);
    if (!(this.isWhole || callsOfFirst.test(name))) await this.whole();
    while (this.#underWay !== undefined) await this.#underWay;
    throwIfAborted(signal);
    const core = this.#open();
    if (!isPaced(name)) return core.run(name, given);
    const stopped = () => signal?.aborted === true || this.over.aborted;
    const run = runPaced(core, name, given, stopped);
    const over = () => {
      this.#underWay = undefined;
    };
    this.#underWay = run.then(over, over);
    const value = await run;
    if (value !== undefined) return value;
    throwIfAborted(signal);
    throw disposed();
  }

  now<N extends BorderName>(name: N, given: ArgumentsOf<N>): ValueOf<N> {
    return this.#open().run(name, given);
  }

  async write(checkpoint: Handle, chunk: Uint8Array, borrowed: boolean): Promise<void> {
    this.#open().write(checkpoint, chunk);
    if (!borrowed && hasOwnMemory(chunk)) giveBack(chunk);
  }

  async close(): Promise<void> {
    this.#core = undefined;
    this.#over.abort(disposed());
    this.#pool?.end();
  }

  #open(): import('./core.js').Core {
    if (this.#core === undefined) throw disposed();
    return this.#core;
  }
}

function disposed(): ClearformerError {
  return new ClearformerError('disposed', 'this model was disposed');
}
