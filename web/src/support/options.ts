// Checks of what a caller passes: an option nobody reads is an error that names it, never silence.

import { ClearformerError } from './error.js';

/** Throws `unsupported` for the first key of `given` that is not in `known`. */
export function checkOptions(call: string, given: unknown, known: readonly string[]): void {
  if (given === undefined) return;
  if (given === null || typeof given !== 'object' || Array.isArray(given)) {
    throw new ClearformerError('invalid_argument', `${call}: options must be an object`);
  }
  for (const option of Object.keys(given)) {
    if (known.includes(option)) continue;
    throw new ClearformerError('unsupported', `${call}: unknown option '${option}' (known: ${known.join(', ')})`, {
      option,
      expected: known,
    });
  }
}

/**
 * The options of a call that loads, checked: what transformers.js spells otherwise is translated where `check` refuses it, or
 * refused with what to use.
 */
export async function ownOptions<O>(call: string, given: O, check: (options: O) => void): Promise<O> {
  try {
    check(given);
    return given;
  } catch (thrown) {
    const { translated } = await import('./foreign_options.js'); // few calls need it
    const own = translated(call, given) as O | undefined;
    if (own === undefined) throw thrown;
    check(own);
    return own;
  }
}

/** Rejects as the DOM does: with the signal's reason. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

/** `promise`, or a rejection with the signal's reason as soon as the signal aborts, whichever is first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) {
      promise.catch(() => {}); // its failure no longer matters to anyone
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
