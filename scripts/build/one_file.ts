// The package for environments other than ordinary pages: node.js for Node (whole.ts), inline.js for those that cannot
// serve the other files. They share embedded.js, which contains a WASM build's first file as text; Node loads it only if
// the package's files are not on disk. The parts of the WASM as text (second.js and others) are those of the modules, too.
// worker.js and hook_functions.js are separate scripts, which every bundler can copy.

import { readFileSync, writeFileSync } from 'node:fs';

import type { Plugin } from 'rolldown';
import { partNames } from '../../web/src/runtime/needed_parts.js';
import { common, plugins, shortening } from './bundler.js';
import { inProject } from './fresh.js';
import { fileOf } from './split.js';
import { bundleWhole } from './whole.js';

const letter = (code: number): string => String.fromCharCode(code);
/** The printable characters of ASCII that need no escape in any string. */
const letters = Array.from({ length: 0x5f }, (_, i) => letter(0x20 + i)).filter((each) => !/["'`\\]/.test(each));
/**
 * The byte that each letter represents. WebAssembly as text compresses best if bytes of one meaning are letters of one
 * kind, as brotli models UTF-8: found by swapping two at random while the text got smaller (base64 takes 28 % more).
 */
const bytesOfLetters =
  '203423140d07214104240906101a2849471f1e2958375f3902192a42313f03000a010e2d7f05441c2c467c12083c' +
  '0c111836450b7e403e300ffffd38486162636465666768696a6b6c6d6e6f70717273747576774f791b222e7832';

/**
 * Bytes as characters: letters, or else characters of the same codes, or 256 above for those that editors do not show
 * and for letters that represent another byte. `swapped` lists these: letter, byte + 256, …
 */
function charactersOf(bytes: Uint8Array): { text: string; swapped: string } {
  const characters = Array.from({ length: 256 }, (_, byte) => letter(byte > 0xa0 && byte !== 0xad ? byte : byte + 256));
  let swapped = '';
  letters.forEach((each, i) => {
    const byte = Number.parseInt(bytesOfLetters.slice(2 * i, 2 * i + 2), 16);
    characters[byte] = each;
    if (letter(byte) !== each) swapped += each + letter(byte + 256);
  });
  return { text: Array.from(bytes, (byte) => characters[byte]).join(''), swapped };
}

const withFunctions: Plugin = {
  name: 'the worker with the code that makes hook functions',
  resolveId: (source) =>
    source.endsWith('/functions_part.js') ? inProject('web/src/models/functions_part_whole.ts') : null,
};

/** A script in one file; an iife runs as a module and as a classic script. */
async function scriptOf(path: string, format: 'iife' | 'esm', more: readonly Plugin[] = []): Promise<string> {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({ ...common, input: inProject(path), plugins: [...more, ...plugins] });
  const { output } = await build.generate({ format, minify: shortening });
  await build.close();
  return output[0].code;
}

const write = (name: string, text: string): void => writeFileSync(inProject('dist', name), text);

const moduleOf = (texts: Readonly<Record<string, string>>): string =>
  Object.entries(texts)
    .map(([name, text]) => `export const ${name} = ${JSON.stringify(text)};\n`)
    .join('');

/** `program`: the build of the WASM that is embedded, as a path without extension. */
export async function bundleInOneFile(program: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));
  const define = { 'import.meta.version': JSON.stringify(version) };
  write('worker.js', await scriptOf('web/src/worker.ts', 'iife'));
  write('hook_functions.js', await scriptOf('web/src/hook_functions.ts', 'iife'));
  for (const name of ['first', ...partNames] as const) {
    const { text: wasm, swapped } = charactersOf(readFileSync(fileOf(program, name)));
    write(`${name === 'first' ? 'embedded' : name}.js`, moduleOf({ wasm, swapped }));
  }

  const worker = await scriptOf('web/src/worker.ts', 'iife', [withFunctions]);
  await bundleWhole(define, { 'built:worker': moduleOf({ script: worker }) });
  const included = ['embedded', ...partNames].map((name) => `import * as ${name} from './${name}.js';\n`).join('');
  write(
    'inline.js',
    `${included}import { useCoreParts, useEmbedded } from './whole.js';\n` +
      `useEmbedded(embedded);\nuseCoreParts({ ${partNames.join(', ')} });\nexport * from './whole.js';\n`,
  );
}
