// The messages between this thread and the worker that holds a core. Every call has an id; its answer carries the same.

import { ClearformerError, type ErrorCode, type ErrorDetails, messageOf } from '../support/error.js';
import type { BorderName, MemoryUse } from './border.js';
import type { CompiledCore } from './wasm.js';

/**
 * The first message of every worker, which says that its script runs, and what will tell of its end: the lock of its name,
 * the address of a blob, or (null) its events alone.
 */
export type Sign = true | string | null;

/** To the worker. `start` is answered with the core's memory where it can be shared; `cancel` drops a call that has not begun. */
export type Request =
  | { kind: 'start'; id: number; compiled: CompiledCore }
  | { kind: 'call'; id: number; name: BorderName; given: unknown }
  | { kind: 'write'; id: number; checkpoint: number; chunk: Uint8Array }
  | { kind: 'cancel'; id: number };

/** From the worker. `heapBytes` is the size of the core's memory after the call, `memory` what its objects hold of it. */
export type Reply = { id: number; heapBytes: number; memory: MemoryUse } & (
  | { kind: 'value'; value: unknown }
  | { kind: 'error'; error: PlainError }
);

/** An error as it crosses the border between threads: code and details survive. */
export interface PlainError {
  code: ErrorCode;
  message: string;
  details: ErrorDetails;
}

export function packError(thrown: unknown): PlainError {
  if (thrown instanceof ClearformerError) {
    return { code: thrown.code, message: thrown.message, details: thrown.details };
  }
  return { code: 'internal', message: messageOf(thrown), details: {} };
}

export function unpackError(error: PlainError): ClearformerError {
  return new ClearformerError(error.code, error.message, error.details);
}

/** The memory of every typed array inside `value`: moved to the other thread instead of copied. */
export function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  } else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) buffersOf(inner, found);
  }
  return [...found];
}
