// What a visitor downloads, compressed as servers do it, and its limits.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { inProject } from './build/fresh.mjs';
import { main } from './main.mjs';
import { SetupError } from './toolchain/progress.mjs';

const WASM_BROTLI_LIMIT = 150_000;
const SCRIPT_GZIP_LIMIT = 45_000;

const brotli = (data) =>
  brotliCompressSync(data, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: data.length },
  }).length;
const gzip = (data) => gzipSync(data, { level: 9 }).length;
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

const LEFT_OUT = /^(inline|chat_template)/; // copies of the others; an entry of its own with the Jinja interpreter

/** The package's files with their compressed sizes. */
function measure() {
  const folder = inProject('dist');
  if (!existsSync(folder)) throw new SetupError('dist/ is missing: run "npm run build" first.');
  const names = readdirSync(folder).sort();
  const read = (name) => readFileSync(inProject('dist', name));
  const wasm = names.filter((name) => name.endsWith('.wasm')).map((name) => ({ name, size: brotli(read(name)) }));
  const scripts = names.filter((name) => name.endsWith('.js') && !LEFT_OUT.test(name));
  return { wasm, scripts: scripts.map((name) => ({ name, size: gzip(read(name)) })) };
}

export async function checkSizes() {
  const { wasm, scripts } = measure();
  const scriptTotal = scripts.reduce((sum, { size }) => sum + size, 0);
  const rows = [
    ...wasm.map(({ name, size }) => ({ name, size, limit: WASM_BROTLI_LIMIT, by: 'brotli' })),
    { name: `JavaScript (${scripts.length} files)`, size: scriptTotal, limit: SCRIPT_GZIP_LIMIT, by: 'gzip' },
  ];
  const lines = rows.map(({ name, size, limit, by }) => `${name}: ${kilobytes(size)} ${by}, limit ${kilobytes(limit)}`);
  if (wasm.length === 0 || rows.some(({ size, limit }) => size > limit)) throw new SetupError(lines.join('\n'));
  return lines.join('\n    ');
}

await main(import.meta, async () => console.log(await checkSizes()));
