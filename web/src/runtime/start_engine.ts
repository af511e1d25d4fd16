// Starts what runs the core's functions for one model: in this thread, or in a worker (worker_client.ts).

import { ClearformerError } from '../support/error.js';
import { throwIfAborted } from '../support/options.js';
import { isPage } from '../support/platform.js';
import type { ArgumentsOf, BorderName, Handle, MemoryUse, ValueOf } from './border.js';
import { type Engine, noMemory } from './engine.js';
import { isPaced, runPaced } from './paced.js';
import { type CompiledCore, chooseVariant, compileCore, isDeterministic, type RuntimeOptions } from './wasm.js';

/** How to run a model. */
export interface EngineOptions extends RuntimeOptions {
  /** In a worker (default on a page) or in this thread (default elsewhere). */
  worker?: boolean | undefined;
  /** Only one thread so far: `'auto'` or 1. */
  numThreads?: number | 'auto' | undefined;
}

/** Starts an engine with a core of its own. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { numThreads = 'auto' } = options;
  if (numThreads !== 'auto' && numThreads !== 1) {
    throw new ClearformerError(
      'unsupported',
      `numThreads: ${numThreads} threads are not supported yet (known: 'auto', 1)`,
      { option: 'numThreads' },
    );
  }
  chooseVariant(isDeterministic(options)); // says at once when the engine is too old
  const compiled = await compileCore(options);
  if (options.worker ?? isPage()) {
    const { WorkerEngine } = await import('./worker_client.js');
    return WorkerEngine.start(compiled);
  }
  return LocalEngine.start(compiled);
}

/** The core in this thread. */
class LocalEngine implements Engine {
  readonly remote = false;
  readonly wasmBytes: number;
  #core: import('./core.js').Core | undefined;
  /** The call that left in between and will be made again; no other one may come upon the core's workspace in use. */
  #underWay: Promise<unknown> | undefined;

  private constructor(core: import('./core.js').Core, wasmBytes: number) {
    this.#core = core;
    this.wasmBytes = wasmBytes;
  }

  static async start(compiled: CompiledCore): Promise<LocalEngine> {
    const { Core } = await import('./core.js'); // pages with workers never load the glue in their own thread
    return new LocalEngine(await Core.start(compiled.module), compiled.bytes);
  }

  get heapBytes(): number {
    return this.#core?.heapBytes ?? 0;
  }

  get memory(): MemoryUse {
    return this.#core?.memory ?? noMemory;
  }

  async call<N extends BorderName>(name: N, given: ArgumentsOf<N>, signal?: AbortSignal): Promise<ValueOf<N>> {
    throwIfAborted(signal);
    while (this.#underWay !== undefined) await this.#underWay;
    throwIfAborted(signal);
    const core = this.#open();
    if (!isPaced(name)) return core.run(name, given);
    const stopped = () => signal?.aborted === true || this.#core === undefined;
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

  async write(checkpoint: Handle, chunk: Uint8Array): Promise<void> {
    this.#open().write(checkpoint, chunk);
  }

  async close(): Promise<void> {
    this.#core = undefined;
  }

  #open(): import('./core.js').Core {
    if (this.#core === undefined) throw disposed();
    return this.#core;
  }
}

function disposed(): ClearformerError {
  return new ClearformerError('disposed', 'this model was disposed');
}
