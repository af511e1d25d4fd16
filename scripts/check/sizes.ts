// What a visitor downloads, compressed as servers do it, and its limits.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import type { Rolldown } from 'vite';
import { inProject } from '../build/fresh.js';
import { SetupError } from '../toolchain/progress.js';

const wasmBrotliLimit = 150_000;
interface Page {
  name: string;
  imports: readonly string[];
  limit: number;
}

// A bundler keeps what a page imports; pipelines are fetched task by task.
const pages: readonly Page[] = [
  { name: 'a language model and its tokenizer', imports: ['AutoModelForCausalLM', 'AutoTokenizer'], limit: 45_000 },
  { name: 'everything the package exports', imports: ['*'], limit: 78_000 },
];

const brotli = (data: Buffer): number =>
  brotliCompressSync(data, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: data.length },
  }).length;
const gzip = (data: string | Uint8Array): number => gzipSync(data, { level: 9 }).length;
const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

interface Size {
  name: string;
  size: number;
  limit: number;
  by: 'brotli' | 'gzip';
}

function wasmSizes(): Size[] {
  const names = readdirSync(inProject('dist')).filter((name) => name.endsWith('.wasm'));
  return names.map((name) => ({
    name,
    size: brotli(readFileSync(inProject('dist', name))),
    limit: wasmBrotliLimit,
    by: 'brotli',
  }));
}

/** The chunks that are loaded when `chunk` is. */
function loadedWith(
  chunk: Rolldown.OutputChunk | undefined,
  chunks: ReadonlyMap<string, Rolldown.OutputChunk>,
  found = new Set<Rolldown.OutputChunk>(),
): Set<Rolldown.OutputChunk> {
  if (chunk === undefined || found.has(chunk)) return found;
  found.add(chunk);
  for (const name of chunk.imports) loadedWith(chunks.get(name), chunks, found);
  return found;
}

/** The scripts that a page with these imports loads, as Vite bundles them, the worker's among them. */
async function pageSize({ name, imports, limit }: Page): Promise<Size> {
  const { build } = await import('vite');
  const code = `export ${imports[0] === '*' ? '*' : `{ ${imports.join(', ')} }`} from ${JSON.stringify(inProject('dist/index.js'))};`;
  const page = {
    name: 'the page',
    resolveId: (id: string) => (id === 'the-page' ? id : undefined),
    load: (id: string) => (id === 'the-page' ? code : undefined),
  };
  const built = await build({
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
  if (!('output' in built)) throw new SetupError('Vite did not build one page.');
  const chunks = new Map(built.output.flatMap((each) => (each.type === 'chunk' ? [[each.fileName, each]] : [])));
  const loaded = new Set<Rolldown.OutputChunk>();
  for (const chunk of chunks.values()) if (chunk.isEntry) loadedWith(chunk, chunks, loaded);
  const worker = built.output
    .filter((each) => each.type === 'asset')
    .filter(({ fileName }) => fileName.endsWith('.js'));
  if (worker.length === 0) throw new SetupError('The worker is missing from the page that is measured.');
  const texts = [...[...loaded].map((chunk) => chunk.code), ...worker.map(({ source }) => source)];
  return { name: `JavaScript of ${name}`, size: texts.reduce((sum, text) => sum + gzip(text), 0), limit, by: 'gzip' };
}

export async function checkSizes(): Promise<string> {
  if (!existsSync(inProject('dist'))) throw new SetupError('dist/ is missing: run "npm run build" first.');
  const rows = [...wasmSizes(), ...(await Promise.all(pages.map(pageSize)))];
  const lines = rows.map(({ name, size, limit, by }) => `${name}: ${kilobytes(size)} ${by}, limit ${kilobytes(limit)}`);
  if (rows.some(({ size, limit }) => size > limit)) throw new SetupError(lines.join('\n'));
  return lines.join('\n    ');
}
