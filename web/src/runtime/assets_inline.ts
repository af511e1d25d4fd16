// The package's own files as part of the script, for the inline entry: the WASM gzipped in base64, the worker as text.

import relaxed from 'inline:relaxed';
import simd128 from 'inline:simd128';
import worker from 'inline:worker';
import type { Variant } from './border.js';

const zipped: Record<Variant, string> = { simd128, relaxed };

export const assets = {
  async wasm(variant: Variant): Promise<Uint8Array> {
    const bytes = Uint8Array.from(atob(zipped[variant]), (letter) => letter.charCodeAt(0));
    const unzipped = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(unzipped).arrayBuffer());
  },

  startWorker(): Worker {
    return new Worker(URL.createObjectURL(new Blob([worker], { type: 'text/javascript' })), { type: 'module' });
  },

  workerUrl(): URL {
    return new URL(`data:text/javascript,${encodeURIComponent(worker)}`);
  },
};
