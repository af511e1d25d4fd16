// The core in the thread of the caller. Loaded when one is started: pages, whose models run in workers, do without.

import { giveBack, hasOwnMemory } from '../support/chunk_memory.js';
import { throwIfAborted } from '../support/options.js';
import { isNode } from '../support/platform.js';
import type { ArgumentsOf, BorderName, Handle, MemoryUse, ValueOf } from './border.js';
import { Core } from './core.js';
import { CoreEngine } from './core_engine.js';
import { disposed, noMemory } from './engine.js';
import { isPaced, runPaced } from './paced.js';
import type { GetPart } from './parts.js';
import type { Threads } from './threads.js';
import type { CompiledCore } from './wasm.js';

export class LocalEngine extends CoreEngine {
  readonly remote = false;
  #core: Core | undefined;
  /** The call that returned early and will be repeated; no other call may use the core's workspace meanwhile. */
  #underWay: Promise<unknown> | undefined;

  static async start(compiled: CompiledCore, threads: Threads, part: GetPart): Promise<LocalEngine> {
    const core = await Core.start(compiled);
    const engine = new LocalEngine(threads, part);
    engine.#core = core;
    engine.wasmBytes = compiled.bytes;
    const callerMaySleep = isNode() || typeof document === 'undefined';
    await engine.startPool(compiled, core.memory, callerMaySleep, (why) => core.stop(new Error(why)));
    return engine;
  }

  get heapBytes(): number {
    return this.#core?.heapBytes ?? 0;
  }

  get memory(): MemoryUse {
    return this.#core?.use ?? noMemory;
  }

  protected async run<N extends BorderName>(
    name: N,
    given: ArgumentsOf<N>,
    signal: AbortSignal | undefined,
  ): Promise<ValueOf<N> | undefined> {
    while (this.#underWay !== undefined) await this.#underWay;
    throwIfAborted(signal);
    const core = this.#open();
    if (!isPaced(name)) return core.run(name, given);
    const run = runPaced(core, name, given, () => signal?.aborted === true || this.over.aborted);
    const over = () => {
      this.#underWay = undefined;
    };
    this.#underWay = run.then(over, over);
    return run;
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
    this.end(disposed());
  }

  protected add(part: WebAssembly.Module): Promise<void> {
    return this.#open().add(part);
  }

  #open(): Core {
    if (this.#core === undefined) throw disposed();
    return this.#core;
  }
}
