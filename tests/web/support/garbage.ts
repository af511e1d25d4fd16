// Garbage collection on request, for tests that measure memory.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects what is no longer reachable, with the turns of the event loop that finalizers need. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let i = 0; i < 5; i++) {
    gc();
    await new Promise((done) => setTimeout(done, 10));
  }
}
