// The package's own files for the package in one script. In Node they are read from disk where it is installed, whatever a
// bundler has made of the script; else embedded.js has one WASM build, and the script of workers comes as a text.

import { baseUrl, isNode, nodeModule } from '../support/platform.js';
import type { Variant } from './border.js';

/** embedded.js, which scripts/build/one_file.ts makes: a text, and how bytes became characters. */
type Embedded = typeof import('built:embedded');

let embedded: Embedded | undefined;
let workerScript: URL | undefined;

/** Gives the WASM to the script; without it that is loaded when it is needed. */
export function useEmbedded(given: Embedded): void {
  embedded = given;
}

async function loadEmbedded(): Promise<Embedded> {
  embedded ??= await import('built:embedded');
  return embedded;
}

export const assets = {
  inOneFile: true,

  wasm(variant: Variant, shared: boolean): URL | Promise<Uint8Array> {
    const name = `clearformer-${variant}${shared ? '-threads' : ''}.wasm`;
    return onDisk(name) ?? loadEmbedded().then(bytesOf);
  },

  async workerUrl(): Promise<URL> {
    workerScript ??= onDisk('worker.js') ?? scriptOf((await import('built:worker')).script);
    return workerScript;
  },
};

function scriptOf(text: string): URL {
  if (isNode()) return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
  return new URL(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
}

/** The WASM: character codes modulo 256, but for the swapped ones. */
function bytesOf({ simd128, swapped }: Embedded): Uint8Array {
  const byteOf = Uint8Array.from({ length: 512 }, (_, code) => code);
  for (let i = 0; i < swapped.length; i += 2) byteOf[swapped.charCodeAt(i)] = swapped.charCodeAt(i + 1);
  const bytes = new Uint8Array(simd128.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = byteOf[simd128.charCodeAt(i)] as number;
  return bytes;
}

/** A file of this very version where it is installed; undefined where it is not, as in browsers. */
function onDisk(name: string): URL | undefined {
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

/** Where the package may be installed: where this script lies, or where the process would find it. */
function* homes(): Generator<URL> {
  const here: string | undefined = import.meta.url; // some bundlers leave none, others a path of the machine they ran on
  // A server's bundler would look for what `new URL` names beside import.meta.url.
  if (here?.startsWith('file:')) yield new URL(here.replace(/[^/]*\/[^/]*$/, ''));
  try {
    const path = nodeModule('node:module').createRequire(baseUrl()).resolve('clearformer/package.json');
    yield new URL('./', nodeModule('node:url').pathToFileURL(path));
  } catch {} // the process runs elsewhere
}
