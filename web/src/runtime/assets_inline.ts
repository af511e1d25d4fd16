// The package's own files as part of the script, for the inline entry: the WASM gzipped in base64, the worker as text.

import relaxed from 'inline:relaxed';
import relaxedThreads from 'inline:relaxed-threads';
import simd128 from 'inline:simd128';
import simd128Threads from 'inline:simd128-threads';
import thread from 'inline:thread';
import worker from 'inline:worker';
import type { Variant } from './border.js';

const zipped: Record<Variant, string> = { simd128, relaxed };
const zippedShared: Record<Variant, string> = { simd128: simd128Threads, relaxed: relaxedThreads };

export const assets = {
  async wasm(variant: Variant, shared: boolean): Promise<Uint8Array> {
    const text = (shared ? zippedShared : zipped)[variant];
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const unzipped = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(unzipped).arrayBuffer());
  },

  startWorker: (): Worker => workerOf(worker),
  workerUrl: (): URL => urlOf(worker),
  startThread: (): Worker => workerOf(thread),
  threadUrl: (): URL => urlOf(thread),
};

function workerOf(script: string): Worker {
  return new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), { type: 'module' });
}

function urlOf(script: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(script)}`);
}
