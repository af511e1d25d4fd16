// Starts the engine of a model: in this thread, or in a worker (worker_client.ts).

import { ClearformerError } from '../support/error.js';
import { throwIfAborted } from '../support/options.js';
import { isNode, isPage, loadPart } from '../support/platform.js';
import type { ArgumentsOf, BorderName, Handle, MemoryUse, ValueOf } from './border.js';
import { type Engine, noMemory } from './engine.js';
import { isPaced, runPaced } from './paced.js';
import { planThreads, refused, type Threads } from './threads.js';
import {
  type CompiledCore,
  chooseVariant,
  compileCore,
  isDeterministic,
  type ReadyCore,
  type RuntimeOptions,
} from './wasm.js';
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
  const wanted = planThreads(options.numThreads);
  chooseVariant(isDeterministic(options)); // reports at once if the engine is too old
  const compiling = compileFor(wanted, options);
  if (options.worker ?? isPage()) {
    return WorkerEngine.start(compiling); // the worker loads its script meanwhile
  }
  const { compiled, threads } = await compiling;
  return LocalEngine.start(compiled, threads);
}

/** Compiles the build with threads if they are wanted, or the other one if that is unavailable. */
async function compileFor(wanted: Threads, options: RuntimeOptions): Promise<ReadyCore> {
  if (wanted.used > 1) {
    try {
      const compiled = await compileCore(options, true);
      const alone = { used: 1, reason: 'the WASM that was given is a build without threads' };
      return { compiled, threads: compiled.shared ? wanted : alone };
    } catch (cause) {
      return { compiled: await compileCore(options, false), threads: refused(cause) };
    }
  }
  return { compiled: await compileCore(options, false), threads: wanted };
}

/** The core in this thread. */
class LocalEngine implements Engine {
  readonly remote = false;
  readonly wasmBytes: number;
  threads: Threads;
  #core: import('./core.js').Core | undefined;
  #pool: import('./thread_pool.js').ThreadPool | undefined;
  readonly #over = new AbortController();
  /** The call that returned early and will be repeated; no other call may use the core's workspace meanwhile. */
  #underWay: Promise<unknown> | undefined;

  private constructor(core: import('./core.js').Core, wasmBytes: number, threads: Threads) {
    this.#core = core;
    this.wasmBytes = wasmBytes;
    this.threads = threads;
  }

  static async start(compiled: CompiledCore, threads: Threads): Promise<LocalEngine> {
    const { Core } = await loadPart(() => import('./core.js')); // pages with workers do not load the glue here
    const core = await Core.start(compiled);
    const engine = new LocalEngine(core, compiled.bytes, threads);
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

  async write(checkpoint: Handle, chunk: Uint8Array): Promise<void> {
    this.#open().write(checkpoint, chunk);
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
