// URLs of the package's own files, relative to this module. Bundlers recognise these forms of `new URL` and include the
// files. The single-script build uses assets_whole.ts instead of this file.

import { baseUrl } from '../support/platform.js';
import type { Variant } from './build_info.js';

export const assets = {
  /** Whether the script needs no other files. */
  inOneFile: false,

  /** The .wasm file: its URL, or its bytes if they are embedded. */
  wasm(variant: Variant): URL | Promise<Uint8Array> {
    return variant === 'relaxed'
      ? settled(new URL('./clearformer-relaxed.wasm', import.meta.url))
      : settled(new URL('./clearformer-simd128.wasm', import.meta.url));
  },

  /** The worker script. */
  workerUrl(): URL | Promise<URL> {
    return settled(new URL('./worker.js', import.meta.url));
  },
};

// Two places copy this module without its files: the folder in which Vite up to 7 keeps optimised dependencies during
// development, and CDNs that bundle packages on demand (esm.sh, jsdelivr's +esm). pnpm's folders look like the latter,
// but have node_modules within.
const elsewhere =
  /(\/node_modules\/)\.[^?]*\/deps\/|(\/clearformer@[^/]+\/)(?!dist\/|node_modules\/)([^?]*\/)?(?=[^/]*$)/;

/** The URL of a file beside this module, wherever that was copied to. */
export function settled(url: URL): URL {
  return new URL(
    url.href.replace(elsewhere, (_, packages?: string, own?: string) =>
      packages === undefined ? `${own}dist/` : `${packages}clearformer/dist/`,
    ),
    baseUrl(), // some bundlers' URLs have no host
  );
}
