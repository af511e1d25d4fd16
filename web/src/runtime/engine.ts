// An engine runs the core's functions for one model, in whichever thread.

import type { ArgumentsOf, BorderName, Handle, MemoryUse, ValueOf } from './border.js';
import type { Threads } from './threads.js';

/** Calls across the border, wherever the core runs. After `close` nothing of the core is left. */
export interface Engine {
  /** Whether calls run beside this thread; then the next step of a generation can be started early. */
  readonly remote: boolean;
  /** Size of the core's memory in bytes, as of the last answer. */
  readonly heapBytes: number;
  /** What the core's objects hold of it, as of the last answer. */
  readonly memory: MemoryUse;
  /** Size of the .wasm file in bytes. */
  readonly wasmBytes: number;
  readonly threads: Threads;
  /** Aborts, with the reason that calls then reject with, when the engine is closed or dies. */
  readonly over: AbortSignal;
  call<N extends BorderName>(name: N, given: ArgumentsOf<N>, signal?: AbortSignal): Promise<ValueOf<N>>;
  /** Hands over the next bytes of a file. A chunk that is not `borrowed` may be taken away from the caller. */
  write(checkpoint: Handle, chunk: Uint8Array, borrowed: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Releases a handle; that a whole core is gone already is no failure. */
export async function releaseHandle(engine: Engine, handle: Handle): Promise<void> {
  await engine.call('release', { handle }).catch(() => {});
}

/** Of an engine that is closed. */
export const noMemory: MemoryUse = { weights: 0, cache: 0, workspace: 0, peak: 0 };
