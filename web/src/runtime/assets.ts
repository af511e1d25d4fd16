// Where the package's own files lie: beside this module. Bundlers know these forms of `new URL` and move the files along.
// The package in one script has assets_whole.ts in place of this file.

import { baseUrl } from '../support/platform.js';
import type { Variant } from './border.js';

export const assets = {
  /** Whether the script needs no other files. */
  inOneFile: false,

  /** The .wasm file: its URL, or its bytes where there is a copy. */
  wasm(variant: Variant, shared: boolean): URL | Promise<Uint8Array> {
    if (shared) {
      return variant === 'relaxed'
        ? settled(new URL('./clearformer-relaxed-threads.wasm', import.meta.url))
        : settled(new URL('./clearformer-simd128-threads.wasm', import.meta.url));
    }
    return variant === 'relaxed'
      ? settled(new URL('./clearformer-relaxed.wasm', import.meta.url))
      : settled(new URL('./clearformer-simd128.wasm', import.meta.url));
  },

  /** The script of workers. */
  workerUrl(): URL | Promise<URL> {
    return settled(new URL('./worker.js', import.meta.url));
  },
};

// Two places have a copy of this module elsewhere than beside its files, and the files where they were: the folder in which
// Vite up to 7 keeps dependencies while it serves for development, and hosts that bundle packages on demand (esm.sh,
// jsdelivr's +esm).
const elsewhere = /(\/node_modules\/)\.[^?]*\/deps\/|(\/clearformer@[^/]+\/)(?!dist\/)([^?]*\/)?(?=[^/]*$)/;

function settled(url: URL): URL {
  return new URL(
    url.href.replace(elsewhere, (_, packages?: string, own?: string) =>
      packages === undefined ? `${own}dist/` : `${packages}clearformer/dist/`,
    ),
    baseUrl(), // some bundlers' URLs have no host
  );
}
