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
  { name: 'everything the package exports', imports: ['*'], limit: 100_000 },
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

/** All files that `outputs` loads when the file `from` is loaded. */
function staticClosure(outputs, from, found = new Set()) {
  if (found.has(from)) return found;
  found.add(from);
  for (const { path, kind } of outputs[from].imports) {
    if (kind === 'import-statement') staticClosure(outputs, path, found);
  }
  return found;
}

/** The scripts a page with these imports loads, as a bundler makes them, the worker's among them. */
async function pageSize({ name, imports, limit }) {
  const { build } = await import('esbuild');
  const page = {
    name: 'the page',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^the-page$/ }, () => ({ path: 'page', namespace: 'page' }));
      const what = imports[0] === '*' ? '*' : `{ ${imports.join(', ')} }`;
      onLoad({ filter: /.*/, namespace: 'page' }, () => ({
        contents: `export ${what} from './index.js';`,
        resolveDir: inProject('dist'),
      }));
    },
  };
  const { outputFiles, metafile } = await build({
    entryPoints: { page: 'the-page', worker: inProject('dist/worker.js') },
    plugins: [page],
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    outdir: inProject('dist'),
    legalComments: 'none',
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  const { outputs } = metafile;
  const files = Object.keys(outputs).filter((file) => /\/(page|worker|worker_client-\w+(-\w+)?)\.js$/.test(file));
  const loaded = files.reduce((found, file) => staticClosure(outputs, file, found), new Set());
  const contents = outputFiles.filter(({ path }) =>
    [...loaded].some((file) => path.endsWith(file.replace(/^.*dist\//, '/dist/'))),
  );
  const size = contents.reduce((sum, file) => sum + gzip(file.contents), 0);
  return { name: `JavaScript of ${name}`, size, limit, by: 'gzip' };
}

export async function checkSizes() {
  if (!existsSync(inProject('dist'))) throw new SetupError('dist/ is missing: run "npm run build" first.');
  const rows = [...wasmSizes(), ...(await Promise.all(PAGES.map(pageSize)))];
  const lines = rows.map(({ name, size, limit, by }) => `${name}: ${kilobytes(size)} ${by}, limit ${kilobytes(limit)}`);
  if (rows.some(({ size, limit }) => size > limit)) throw new SetupError(lines.join('\n'));
  return lines.join('\n    ');
}

await main(import.meta, async () => console.log(await checkSizes()));
