// What engines do alike, in whichever thread their core is: the parts of the build, the pool of threads, the end.

import { throwIfAborted } from '../support/options.js';
import { loadPart } from '../support/platform.js';
import type { ArgumentsOf, BorderName, Handle, MemoryUse, ValueOf } from './border.js';
import { type Engine, once } from './engine.js';
import { type PartName, partsFor } from './needed_parts.js';
import type { GetPart } from './parts.js';
import type { ThreadPool } from './thread_pool.js';
import type { Threads } from './threads.js';
import type { CompiledCore } from './wasm.js';

/** An engine with a core of its own. */
export abstract class CoreEngine implements Engine {
  abstract readonly remote: boolean;
  abstract readonly heapBytes: number;
  abstract readonly memory: MemoryUse;
  wasmBytes = 0;
  threads: Threads;
  readonly #adding: Readonly<Record<PartName, () => Promise<void>>>;
  readonly #added = new Set<PartName>();
  /** Of the last call that waits for parts. */
  #last: Promise<unknown> | undefined;
  readonly #over = new AbortController();
  #pool: ThreadPool | undefined;

  constructor(threads: Threads, part: GetPart) {
    this.threads = threads;
    const adding = (name: PartName) =>
      once(async () => {
        const got = await part(name);
        await this.add(got.module);
        this.#pool?.add(got); // once, also if it was tried before
        this.wasmBytes += got.bytes.byteLength;
        this.#added.add(name);
      });
    this.#adding = { second: adding('second'), hooks: adding('hooks'), families: adding('families') };
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  async call<N extends BorderName>(name: N, given: ArgumentsOf<N>, signal?: AbortSignal): Promise<ValueOf<N>> {
    throwIfAborted(signal);
    const parts = partsFor(name, given);
    if (!this.has(parts)) await this.#turn(parts);
    const value = await this.run(name, given, signal);
    if (value === undefined) throwIfAborted(signal?.aborted ? signal : this.over);
    return value as ValueOf<N>;
  }

  has(parts: readonly PartName[]): boolean {
    return this.#last === undefined && parts.every((part) => this.#added.has(part));
  }

  /** Waits for parts, and for calls before that wait: none overtakes another. */
  async #turn(parts: readonly PartName[]): Promise<void> {
    const adding = this.addParts(parts);
    const turn = Promise.allSettled([this.#last, adding]);
    this.#last = turn;
    await turn;
    if (this.#last === turn) this.#last = undefined;
    await adding;
  }

  async addParts(parts: readonly PartName[]): Promise<void> {
    await Promise.all(parts.map((name) => this.#adding[name]()));
  }

  abstract write(checkpoint: Handle, chunk: Uint8Array, borrowed: boolean): Promise<void>;
  abstract close(): Promise<void>;

  /** Calls a function of the core; undefined if the signal, or the engine's end, has stopped it on the way. */
  protected abstract run<N extends BorderName>(
    name: N,
    given: ArgumentsOf<N>,
    signal: AbortSignal | undefined,
  ): Promise<ValueOf<N> | undefined>;

  /** Adds a part to the core. */
  protected abstract add(part: WebAssembly.Module): Promise<unknown>;

  /** Starts the core's threads, if several are wanted and its memory can be shared. */
  protected async startPool(
    compiled: CompiledCore,
    memory: WebAssembly.Memory | undefined,
    caller_may_sleep: boolean,
    died: (why: string) => void,
  ): Promise<void> {
    const { threads } = this;
    if (memory === undefined || threads.used === 1) return;
    const { startThreads } = await loadPart(() => import('./thread_pool.js'));
    this.#pool = await startThreads({ engine: this, compiled, memory, threads, caller_may_sleep, died });
    this.threads = this.#pool.threads;
    if (this.over.aborted) this.#pool.end();
  }

  /** Calls under way reject with this reason, and later ones. */
  protected end(reason: unknown): void {
    this.#over.abort(reason);
    this.#pool?.end();
  }
}
