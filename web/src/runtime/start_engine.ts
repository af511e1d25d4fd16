// Starts the engine of a model: in this thread (local_engine.ts), or in a worker (worker_client.ts).

import type { ClearformerError } from '../support/error.js';
import { isPage, loadPart } from '../support/platform.js';
import type { Engine } from './engine.js';
import type { GetPart } from './parts.js';
import { planThreads, refused, type Threads } from './threads.js';
import { chooseVariant, compileCore, isDeterministic, type RuntimeOptions } from './wasm.js';
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
  const part: GetPart = async (name) => {
    const { compilePart } = await loadPart(() => import('./core_parts.js'));
    return compilePart(name, await compiling);
  };
  if (options.worker ?? isPage()) {
    return WorkerEngine.start(compiling, threads, part); // the worker loads its script meanwhile
  }
  const { LocalEngine } = await loadPart(() => import('./local_engine.js')); // with the glue
  return LocalEngine.start(await compiling, threads, part);
}
