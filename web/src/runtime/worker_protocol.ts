// The messages between this thread and the worker with the core. Every call has an id, which its reply repeats.

import { ClearformerError, type ErrorCode, type ErrorDetails, messageOf } from '../support/error.js';
import type { BorderName, MemoryUse } from './border.js';
import type { CompiledCore } from './wasm.js';

/**
 * A worker's first message, when its script runs. It says how to detect the worker's death: a lock with its name, a
 * blob URL, or (null) its events only.
 */
export type Sign = true | string | null;

/**
 * To the worker. The reply to `start` contains the core's memory if it can be shared; `add` adds a part
 * of the build, `cancel` ends a call. Each but that is answered: a call that was ended with undefined.
 */
export type Request =
  | { kind: 'start'; id: number; compiled: CompiledCore }
  | { kind: 'call'; id: number; name: BorderName; given: unknown }
  | { kind: 'write'; id: number; checkpoint: number; chunk: Uint8Array }
  | { kind: 'add'; id: number; part: WebAssembly.Module }
  | { kind: 'cancel'; id: number };

/**
 * From the worker. `heapBytes` is the size of the core's memory after the call, `memory` the part used by its objects,
 * `thrown` what a function of the caller threw.
 */
export type Reply = { id: number; heapBytes: number; memory: MemoryUse } & (
  | { kind: 'value'; value: unknown }
  | { kind: 'error'; error: PlainError; thrown?: { value: unknown } }
);

/** A serialised error: code and details survive between threads. */
export interface PlainError {
  code: ErrorCode;
  message: string;
  details: ErrorDetails;
}

/** Whether it is an error of the package, also one of another file of it, which has a class of its own. */
export function isOwn(thrown: unknown): thrown is ClearformerError {
  return thrown instanceof Error && thrown.name === 'ClearformerError';
}

export function packError(thrown: unknown): PlainError {
  if (isOwn(thrown)) return { code: thrown.code, message: thrown.message, details: thrown.details };
  return { code: 'internal', message: messageOf(thrown), details: {} };
}

export function unpackError(error: PlainError): ClearformerError {
  return new ClearformerError(error.code, error.message, error.details);
}

/** The buffers of all typed arrays inside `value`, to be transferred to the other thread instead of copied. */
export function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  } else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) buffersOf(inner, found);
  }
  return [...found];
}
