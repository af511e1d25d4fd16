// Where the package's own files lie: beside this module. Bundlers know these forms of `new URL` and move the files along.
// The inline entry is built with assets_inline.ts in place of this file.

import type { Variant } from './border.js';

export const assets = {
  /** The .wasm file: its URL, or its bytes where they are part of the script. */
  wasm(variant: Variant, shared: boolean): URL | Promise<Uint8Array> {
    if (shared) {
      return variant === 'relaxed'
        ? new URL('./clearformer-relaxed-threads.wasm', import.meta.url)
        : new URL('./clearformer-simd128-threads.wasm', import.meta.url);
    }
    return variant === 'relaxed'
      ? new URL('./clearformer-relaxed.wasm', import.meta.url)
      : new URL('./clearformer-simd128.wasm', import.meta.url);
  },

  /** A browser's worker that runs worker.js. */
  startWorker(): Worker {
    return new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  },

  /** worker.js beside this file, for engines and pages that load it some other way. Bundlers must not see this one. */
  workerUrl(): URL {
    return beside('worker.js');
  },

  /** The same two of thread.js. */
  startThread(): Worker {
    return new Worker(new URL('./thread.js', import.meta.url), { type: 'module' });
  },
  threadUrl(): URL {
    return beside('thread.js');
  },
};

function beside(name: string): URL {
  return new URL(import.meta.url.replace(/[^/]*$/, name));
}
