// Decides how many threads a model uses and why not more. thread_pool.ts starts them.

import { configuration } from '../support/config.js';
import { ClearformerError, messageOf, textOf } from '../support/error.js';
import { isNode } from '../support/platform.js';

/** Number of threads, and why not more. */
export interface Threads {
  used: number;
  reason: string;
}

/** Half of the logical processors of most machines; more share the memory bandwidth and gain little. */
const most = 4;
/** The core's limit (kMaxThreads of thread_pool.h). */
const limit = 64;

const isolation =
  'the page is not cross-origin isolated: serve it with the headers Cross-Origin-Opener-Policy: same-origin ' +
  'and Cross-Origin-Embedder-Policy: require-corp';

function one(reason: string): Threads {
  return { used: 1, reason };
}

/** How many threads to request. Throws `invalid_argument` for an invalid number. */
export function planThreads(given: number | 'auto' | undefined): Threads {
  const wanted = given ?? configuration.numThreads ?? 'auto';
  if (wanted !== 'auto' && !(Number.isInteger(wanted) && wanted >= 1 && wanted <= limit)) {
    throw new ClearformerError(
      'invalid_argument',
      `numThreads must be 'auto' or a whole number from 1 to ${limit}, not ${textOf(wanted)}`,
      { option: 'numThreads' },
    );
  }
  if (wanted === 1) return one('numThreads is 1');
  if (isNode())
    return wanted === 'auto'
      ? one('outside browsers there is one thread unless numThreads asks for more')
      : asked(wanted);
  if (globalThis.crossOriginIsolated !== true) return one(isolation);
  if (typeof Worker !== 'function') return one('no workers can be started here');
  if (wanted !== 'auto') return asked(wanted);
  const processors = navigator.hardwareConcurrency || 1;
  const used = Math.min(processors, most);
  return {
    used,
    reason: `numThreads is 'auto' and this machine has ${processors} processors; at most ${most} are used`,
  };
}

function asked(used: number): Threads {
  return { used, reason: `numThreads is ${used}` };
}

/** The reason for one thread although more were requested. */
export function refused(cause: unknown): Threads {
  return one(`the threads could not be started (${messageOf(cause)})`);
}
