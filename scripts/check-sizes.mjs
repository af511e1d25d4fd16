// What a visitor downloads, compressed as servers do it, and its limits.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { inProject } from './build/fresh.mjs';
import { main } from './main.mjs';
import { SetupError } from './toolchain/progress.mjs';

const WASM_BROTLI_LIMIT = 150_000;
// A bundler keeps what a page imports; pipelines are fetched task by task.
const PAGES = [
  { name: 'a language model and its tokenizer', imports: ['AutoModelForCausalLM', 'AutoTokenizer'], limit: 45_000 },
  { name: 'everything the package exports', imports: ['*'], limit: 70_000 },
];

const brotli = (data) =>
  brotliCompressSync(data, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: data.length },
  }).length;
const gzip = (data) => gzipSync(data, { level: 9 }).length;
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

function wasmSizes() {
  const names = readdirSync(inProject('dist')).filter((name) => name.endsWith('.wasm'));
  return names.map((name) => ({
    name,
    size: brotli(readFileSync(inProject('dist', name))),
    limit: WASM_BROTLI_LIMIT,
    by: 'brotli',
  }));
}

/** The chunks that are loaded when `chunk` is. */
function loadedWith(chunk, chunks, found = new Set()) {
  if (chunk === undefined || found.has(chunk)) return found;
  found.add(chunk);
  for (const name of chunk.imports) loadedWith(chunks.get(name), chunks, found);
  return found;
}

/** The scripts that a page with these imports loads, as Vite bundles them, the worker's among them. */
async function pageSize({ name, imports, limit }) {
  const { build } = await import('vite');
  const code = `export ${imports[0] === '*' ? '*' : `{ ${imports.join(', ')} }`} from ${JSON.stringify(inProject('dist/index.js'))};`;
  const page = {
    name: 'the page',
    resolveId: (id) => (id === 'the-page' ? id : undefined),
    load: (id) => (id === 'the-page' ? code : undefined),
  };
  const { output } = await build({
    configFile: false,
    logLevel: 'error',
    root: inProject('dist'),
    publicDir: false,
    plugins: [page],
    worker: { format: 'es' },
    build: {
      write: false,
      target: 'esnext',
      modulePreload: false,
      rollupOptions: { input: { page: 'the-page' }, preserveEntrySignatures: 'strict' },
    },
  });
  const chunks = new Map(output.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const entries = [...chunks.values()].filter(({ isEntry }) => isEntry);
  const loaded = entries.reduce((found, chunk) => loadedWith(chunk, chunks, found), new Set());
  const worker = output.filter(({ type, fileName }) => type === 'asset' && fileName.endsWith('.js'));
  if (worker.length === 0) throw new SetupError('The worker is missing from the page that is measured.');
  const texts = [...[...loaded].map((chunk) => chunk.code), ...worker.map(({ source }) => source)];
  return { name: `JavaScript of ${name}`, size: texts.reduce((sum, text) => sum + gzip(text), 0), limit, by: 'gzip' };
}

export async function checkSizes() {
  if (!existsSync(inProject('dist'))) throw new SetupError('dist/ is missing: run "npm run build" first.');
  const rows = [...wasmSizes(), ...(await Promise.all(PAGES.map(pageSize)))];
  const lines = rows.map(({ name, size, limit, by }) => `${name}: ${kilobytes(size)} ${by}, limit ${kilobytes(limit)}`);
  if (rows.some(({ size, limit }) => size > limit)) throw new SetupError(lines.join('\n'));
  return lines.join('\n    ');
}

await main(import.meta, async () => console.log(await checkSizes()));
