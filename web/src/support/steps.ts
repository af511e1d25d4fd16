// Long work in this thread: it is written as a generator that yields after every few hundred microseconds, and is either
// run to its end at once or in slices of time, between which the event loop runs: pages are painted, signals abort.

import { throwIfAborted } from './options.js';
import { nextTurn } from './platform.js';

/** Work that can be left where it yields. */
export type Steps<T> = Generator<undefined, T, void>;

/** How long a slice takes, in milliseconds: about a frame of a page. */
const slice = 16;

/** Calls `run` for runs of `length` indices below `count`, one run per step. */
export function* runs(count: number, run: (start: number, end: number) => void, length = 2 ** 14): Steps<void> {
  for (let start = 0; start < count; start += length) {
    run(start, Math.min(start + length, count));
    yield;
  }
}

const itemsInStep = 4096;

/** `list.map(value)` in steps. */
export function* mapped<T, U>(list: readonly T[], value: (item: T, at: number) => U): Steps<U[]> {
  if (list.length <= itemsInStep) return list.map(value);
  const found: U[] = [];
  const add = (start: number, end: number) => {
    for (let i = start; i < end; i++) found.push(value(list[i] as T, i));
  };
  yield* runs(list.length, add, itemsInStep);
  return found;
}

/** All steps at once. */
export function atOnce<T>(work: Steps<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** The steps in slices of time; rejects with the signal's reason between two of them. */
export async function inSlices<T>(work: Steps<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let end = performance.now() + slice; ; ) {
    throwIfAborted(signal);
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (performance.now() < end);
    await nextTurn();
    end = performance.now() + slice;
  }
}

/** A function to await between asynchronous steps: every slice of time a later task runs, and the signal is obeyed. */
export function turns(signal: AbortSignal | undefined): () => Promise<void> {
  let end = performance.now() + slice;
  return async () => {
    if (performance.now() >= end) {
      await nextTurn();
      end = performance.now() + slice;
    }
    throwIfAborted(signal);
  };
}
