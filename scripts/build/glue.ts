// Removes file lookup from Emscripten's glue. The package instantiates the WASM itself, so that the glue has nothing to
// find: its lookup code would make browser bundlers resolve Node's modules and a .wasm file of their
// own. Emscripten's own workers are not used: the glue's check for them refers to an undeclared variable.

import { readFileSync } from 'node:fs';

import { SetupError } from '../toolchain/progress.js';

export const glueFiles = /clearformer-simd128(-threads)?\.mjs$/;

export function glueText(path: string): string {
  const text = readFileSync(path, 'utf8')
    .replace(/var ENVIRONMENT_IS_NODE=[^;]*;/, '')
    .replaceAll('ENVIRONMENT_IS_NODE', 'false')
    .replaceAll('ENVIRONMENT_IS_WASM_WORKER', 'false')
    .replace('_scriptName=import.meta.url', '_scriptName=""')
    .replace(/if\(false\)\{const\{createRequire\}[^}]*\}/, '')
    .replace(/new URL\("clearformer-simd128(-threads)?\.wasm",\s*import\.meta\.url\)\.href/, '""');
  const left = /import\("[^"]*"\)|[^;]*import\.meta/.exec(text);
  if (left) throw new SetupError(`Emscripten's glue has changed: scripts/build/glue.ts does not expect ${left[0]}.`);
  return text;
}
