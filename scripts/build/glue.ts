// Emscripten's glue without what the package does itself: it looks up, fetches and instantiates the WASM, creates its
// memory, and expects no output and no exit. What remains calls no module of Node's and no other file, which bundlers
// would try to resolve. One glue serves both builds.

import { readFileSync } from 'node:fs';

import { SetupError } from '../toolchain/progress.js';

export const glueFiles = /clearformer-simd128\.mjs$/;

const parts: readonly (readonly [RegExp, string])[] = [
  [/function growMemViews\(\)\{.*?\}\}/s, ''], // views after growth by another thread: only one grows it, which makes them
  [/\(growMemViews\(\),(\w+)\)/g, '$1'],
  [/var ENVIRONMENT_IS_WEB=.*?(?=var runtimeInitialized)/s, ''], // where scripts and files are, and consoles
  [/var runtimeInitialized=false;/, ''],
  [/runtimeInitialized=true;/, ''],
  [/if\(HEAP8\?\.buffer\?\.growable\)return;/, ''],
  [/HEAP8=new Int8Array\(b\);/, ''],
  [/if\(Module\["wasmMemory"\]\)\{(.*?)\}else\{.*?\}(?=updateMemoryViews)/s, '$1;'],
  [/function abort\(what\).*?(?=function getWasmImports)/s, ''],
  [/wasmExports=applySignatureConversions\(wasmExports\);/, ''],
  [/function receiveInstantiationResult\(result\)\{.*?\}(?=var )/s, ''],
  [/var instantiateWasm=.*?\{(return new Promise\(.*?\))\}wasmBinaryFile.*?return exports(?=\})/s, '$1'],
  [/(?<=return new Promise\(resolve=>\{)instantiateWasm/, 'Module["instantiateWasm"]'],
  [/class ExitStatus\{.*?\}\}/s, ''],
  [/(?<=\{initMemory\(\);).*?(?=\}var ___trap)/s, ''],
  [/function applySignatureConversions\(.*?(?=async function run)/s, ''],
  [/if\(ABORT\)return;/, ''],
];

/** The tables by which the glue and a build know each other's functions. */
export function tablesOf(path: string): string {
  const text = readFileSync(path, 'utf8');
  return [
    /var wasmImports=\{.*?\}/s,
    /function assignWasmExports\(.*?\}/s,
    /(?<=function initRuntime\(.*?)wasmExports\["\w+"\]/s,
  ]
    .map((table) => only(text, table, path)[0])
    .join('\n');
}

export function glueText(path: string): string {
  let text = readFileSync(path, 'utf8');
  for (const [part, replacement] of parts) {
    only(text, part, path);
    text = text.replace(part, replacement);
  }
  const left = /import\("[^"]*"\)|[^;]*import\.meta/.exec(text);
  if (left) throw changed(path, left[0]);
  return text;
}

function only(text: string, part: RegExp, path: string): RegExpExecArray {
  const found = part.exec(text);
  if (found === null) throw changed(path, `no ${part}`);
  return found;
}

function changed(path: string, what: string): SetupError {
  return new SetupError(`Emscripten's glue has changed: scripts/build/glue.ts does not expect ${what} in ${path}.`);
}
