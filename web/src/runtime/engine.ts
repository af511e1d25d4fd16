// An engine runs the core's functions for one model, in any thread.

import { ClearformerError } from '../support/error.js';
import type { ArgumentsOf, BorderName, Handle, MemoryUse, ValueOf } from './border.js';
import type { PartName } from './needed_parts.js';
import type { Threads } from './threads.js';

/** Calls the core wherever it runs. After `close` nothing of the core is left. */
export interface Engine {
  /** Whether calls run outside this thread, so that the next step of a generation can be computed ahead. */
  readonly remote: boolean;
  /** Size of the core's memory in bytes, as of the last call. */
  readonly heapBytes: number;
  /** The part used by the core's objects, as of the last call. */
  readonly memory: MemoryUse;
  /** Size of the WASM in bytes: with each part from the first call that needs that. */
  readonly wasmBytes: number;
  readonly threads: Threads;
  /** Aborts when the engine is closed or dies; pending calls reject with its reason. */
  readonly over: AbortSignal;
  /** When the signal aborts, it rejects with its reason after at most one layer; it may have been complete before. */
  call<N extends BorderName>(name: N, given: ArgumentsOf<N>, signal?: AbortSignal): Promise<ValueOf<N>>;
  /** Adds these parts of the build, as `call` does for those that it needs: before `now` may call their functions. */
  addParts(parts: readonly PartName[]): Promise<void>;
  /** Whether `call` of what needs these parts reads the arguments before it returns: they are there, and no call waits. */
  has(parts: readonly PartName[]): boolean;
  /** Calls the core at once, also within another call; only if it is in this thread. */
  now?<N extends BorderName>(name: N, given: ArgumentsOf<N>): ValueOf<N>;
  /** Passes the next bytes of a file. The memory of a chunk that is not `borrowed` may be transferred or used again. */
  write(checkpoint: Handle, chunk: Uint8Array, borrowed: boolean): Promise<void>;
  close(): Promise<void>;
}

/** `work`, until it has succeeded. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work().catch((cause: unknown) => {
      done = undefined;
      throw cause;
    });
    return done;
  };
}

/** Releases a handle; it is not an error if the whole core is gone. */
export async function releaseHandle(engine: Engine, handle: Handle): Promise<void> {
  await engine.call('release', { handle }).catch(() => {});
}

/** The reason why a closed engine does nothing more. */
export const disposed = (): ClearformerError => new ClearformerError('disposed', 'this model was disposed');

/** The memory of a closed engine. */
export const noMemory: MemoryUse = { weights: 0, cache: 0, workspace: 0, peak: 0 };
