// The package's own files for the single-script build. In Node they are read from the installed package, whatever a
// bundler did to the script; elsewhere embedded.js contains one WASM build, and the worker script is included as text.

import { baseUrl, isNode, nodeModule } from '../support/platform.js';
import type { Variant } from './build_info.js';
import { bytesIn, type EmbeddedFile } from './embedded.js';

let embedded: EmbeddedFile | undefined;
let workerScript: URL | undefined;

/** Sets the embedded WASM; without it that is loaded when needed. */
export function useEmbedded(given: EmbeddedFile): void {
  embedded = given;
}

async function loadEmbedded(): Promise<EmbeddedFile> {
  embedded ??= await import('built:embedded');
  return embedded;
}

export const assets = {
  inOneFile: true,

  wasm(variant: Variant): URL | Promise<Uint8Array> {
    return onDisk(`clearformer-${variant}.wasm`) ?? loadEmbedded().then(bytesIn);
  },

  async workerUrl(): Promise<URL> {
    workerScript ??= onDisk('worker.js') ?? scriptOf((await import('built:worker')).script);
    return workerScript;
  },
};

/** A URL of a script. */
function scriptOf(text: string): URL {
  if (isNode()) return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
  return new URL(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
}

/** The URL of a file of the installed package of this exact version; undefined if there is none, as in browsers. */
export function onDisk(name: string): URL | undefined {
  if (!isNode()) return undefined;
  const { existsSync, readFileSync } = nodeModule('node:fs');
  for (const home of homes()) {
    try {
      const found = JSON.parse(readFileSync(new URL('package.json', home), 'utf8'));
      const file = new URL(`dist/${name}`, home);
      if (found.name === 'clearformer' && found.version === import.meta.version && existsSync(file)) return file;
    } catch {} // not installed there
  }
  return undefined;
}

/** Where the package may be installed: next to this script, or where the process would resolve it. */
function* homes(): Generator<URL> {
  const here: string | undefined = import.meta.url; // some bundlers drop it, others insert a path of the build machine
  // Server bundlers would resolve what `new URL` names relative to import.meta.url.
  if (here?.startsWith('file:')) yield new URL(here.replace(/[^/]*\/[^/]*$/, ''));
  try {
    const path = nodeModule('node:module').createRequire(baseUrl()).resolve('clearformer/package.json');
    yield new URL('./', nodeModule('node:url').pathToFileURL(path));
  } catch {} // the process runs elsewhere
}
