// The package for environments other than ordinary pages: node.js for Node (whole.ts), inline.js for those that cannot
// serve the other files. They share embedded.js, which contains a WASM build as text; Node loads it only if the
// package's files are not on disk. worker.js is a separate script, which every bundler can copy.

import { readFileSync, writeFileSync } from 'node:fs';

import type { BuildOptions } from 'esbuild';
import { withClassNames } from './class_names.js';
import { inProject } from './fresh.js';
import { bundleWhole, shortening } from './whole.js';

type Build = typeof import('esbuild').build;

/** Single-byte characters that must be escaped in a string, or that editors do not show. */
const awkward = (byte: number): boolean => byte < 0x20 || byte === 0x7f || ['"', "'", '`', '\\'].includes(letter(byte));
const letter = (code: number): string => String.fromCharCode(code);

/**
 * Bytes as characters with the same codes, which brotli compresses as well as the bytes themselves: but awkward ones
 * are replaced by the rarest letters, and those, like everything invisible, by the character 256 above. `swapped` lists
 * them: letter, byte + 256, …
 */
function charactersOf(bytes: Uint8Array): { text: string; swapped: string } {
  const counts = new Array<number>(256).fill(0);
  for (const byte of bytes) counts[byte] = (counts[byte] ?? 0) + 1;
  const count = (byte: number): number => counts[byte] ?? 0;
  const codes = counts.map((_, byte) =>
    awkward(byte) || (byte > 0x7f && byte <= 0xa0) || byte === 0xad ? byte + 256 : byte,
  );
  const letters = counts.flatMap((_, byte) => (byte < 0x7f && !awkward(byte) ? [byte] : []));
  const rarest = letters.sort((a, b) => count(a) - count(b));
  const commonest = counts.flatMap((_, byte) => (awkward(byte) ? [byte] : [])).sort((a, b) => count(b) - count(a));
  let swapped = '';
  commonest.forEach((byte, i) => {
    const rare = rarest[i] ?? 0;
    if (count(byte) <= count(rare)) return;
    codes[byte] = rare;
    codes[rare] = rare + 256;
    swapped += letter(rare) + letter(byte + 256);
  });
  return { text: Array.from(bytes, (byte) => letter(codes[byte] ?? 0)).join(''), swapped };
}

/** Minifies, but keeps class names, which consoles show. */
export async function minified(code: string): Promise<string> {
  const { minify } = await import('vite');
  const made = await minify('script.js', withClassNames(code), { module: true, ...shortening });
  if (made.errors.length > 0) throw new Error(made.errors.map(({ message }) => message).join('\n'));
  return made.code;
}

async function workerScript(build: Build, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    ...options,
    entryPoints: [inProject('web/src/worker.ts')],
    format: 'iife', // runs as a module and as a classic script
    write: false,
  });
  return minified(outputFiles?.[0]?.text ?? '');
}

const write = (name: string, text: string): void => writeFileSync(inProject('dist', name), text);

const moduleOf = (texts: Readonly<Record<string, string>>): string =>
  Object.entries(texts)
    .map(([name, text]) => `export const ${name} = ${JSON.stringify(text)};\n`)
    .join('');

export async function bundleInOneFile(build: Build, options: BuildOptions, wasm: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));
  const define = { 'import.meta.version': JSON.stringify(version) };
  const worker = await workerScript(build, options);
  write('worker.js', worker);
  const { text: simd128, swapped } = charactersOf(readFileSync(wasm));
  write('embedded.js', moduleOf({ simd128, swapped }));

  await bundleWhole(define, moduleOf({ script: worker }));
  write(
    'inline.js',
    `import * as embedded from './embedded.js';\nimport { useEmbedded } from './whole.js';\n` +
      `useEmbedded(embedded);\nexport * from './whole.js';\n`,
  );
}
