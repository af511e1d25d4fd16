// Download sizes, compressed as by servers, and their limits.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import type { Rolldown } from 'vite';
import { inProject } from '../build/fresh.js';
import { SetupError } from '../toolchain/progress.js';

// The first version took 147 kB. Since then: costs are computed before the work, and errors name file, key and value
// (5 kB); q8 has products for inputs of 7 and of 13 bits, and in relaxed SIMD a second one for processors without a
// product of bytes (6 kB); keys and values in fp16 and eight bits (2 kB); tables and layers of 31 more model types (13
// kB); logits of some positions and copies of a cache (0.7 kB); embeddings and residual streams as inputs, single heads'
// inputs and results (2.5 kB); edits by row, key and feature, noise, projections and limits (2.5 kB); captures of selected
// parts (1.5 kB). 5 kB are needed by threads, also in pages without: a second pair of programs was 0.57 MB of the package.
// What models run without is in a second file (scripts/build/split.ts; 26 kB of it since 2026-11-25); both together take
// 8 kB more than one file would. 3.4 kB of the first are blocks of logits, layers that are computed twice, and costs told
// before a differentiated pass; gradients of what single heads read and write are 1 kB. 1.2 kB are checks: of products of
// sizes beyond 32 bits, of caches of other models, and of the ranges of options; 0.2 kB other names of weights, 0.6 kB
// limits of given positions, alternating passes, sizes of matrices and weights under two names. 6 kB less are since
// 2026-11-28: the compiler inlines less (CMakeLists.txt), and functions are in the order of their names (split.ts). 0.5 kB
// refuse scales of fp8 weights and tell tensors in two files, and tables that must be equal; 0.3 kB are special tokens as
// transformers finds them, as much (with 0.1 kB of the second) inputs of modules by name and sizes that no memory holds;
// 0.2 kB (0.1 kB of the second) are files without tensors, bytes behind them and values of keys that are refused, 0.2 kB
// (0.1 kB of the second) complete passes and edits of gradients that are refused.
const wasmBrotliLimit = 182_200;
const secondBrotliLimit = 74_000;
const secondFile = 'second.js';
// Without the second file, which has a limit of its own. 180 kB are the WASM, 129 kB all of the package's JavaScript, of
// which values of Python in chat templates and the relatives of refused model types are 2.5 kB, labels, new models and
// their distributions 6 kB, metrics of embeddings, parts of captures, probes of several classes and shared encoders of
// sweeps 2 kB; half a kB rounds weights in vectorised loops as they load, as much names folders of other libraries,
// and 1 kB checks arguments and options of the wrong type, 0.4 kB members of them and files that cannot be read; 2 kB keep
// calls in their order, empty caches for several calls, and tell tensors without methods or buffer, masks, patterns and
// ranges of other kinds; 1.6 kB are post-processors behind one another, tokens of a model's own, classes that pad on the
// left and dates in templates, 0.4 kB changes of generation_config; 1.2 kB are analyses of more
// architectures and their refusals, prompts without tokens, adapters by other names, and values of other realms; 0.5 kB
// losses without padding, probes of whole batches, and what runs of a sweep may not share; 0.9 kB are line ends, hosts,
// lengths of embedded texts and encoders alone; 1.3 kB are the code of hook functions in its worker's
// script, 0.4 kB a Whisper's prompt in generate() and texts without timestamps, as much special tokens of more classes; 0.5 kB
// are metrics of whole batches, stacks of one row, too large arrays and texts, and repairs from another version, 0.3 kB token
// ids in options in any form, outputs that generation_config asks for, and warnings of branches that move. 0.6 kB are
// adapters in the order of calls, ids that are bigints, tuples in templates, layers of adapters and models of other tasks,
// 0.4 kB inherited options, caches that are being filled, names of broken images and sounds, and arguments of metrics.
const inlineBrotliLimit = 327_300;

interface Page {
  name: string;
  imports: readonly string[];
  /** Names of chunks that are loaded later but counted. */
  later?: RegExp;
  limit: number;
}

// Rules for the values of every file beside a model, and errors that name them, are 2 kB of the first limit.
// Every page includes Tensor and its methods (1.9 kB); the model classes with transformers' names, tensor functions and
// RawImage (6 kB) are included if named. A bundler keeps what a page imports; pipelines are loaded by task, and on demand
// the code that reads from servers, from files and records that the caller gives, and of cores outside of workers. The
// worker script, part of every total, is one file that every bundler can copy: it includes the 2 kB for builds with
// threads, which used to be a separate file that was not counted.
// The last half kB: workers are monitored from the start, and a core runs a self-test before it is used. Sweeps and what
// is built on them, which nothing imports by itself, are 7 kB of everything, edits and gradients of modules 1 kB, probes
// and control vectors 6 kB, metrics of embeddings 0.7 kB (a page that imports none of them has none of it); adding the
// WASM's second file is 0.7 kB of all, addresses of pages on the Hub 0.1 kB, files that are none (Git LFS, a path of a file)
// 0.2 kB, arguments and options of the wrong type 0.7 kB of a language model's and 1.4 kB of everything, members of
// them and files that cannot be read 0.2 kB and 0.4 kB; the order of calls, caches that several calls fill, and Tensor's
// limits, norms and missing buffers 0.7 kB, with masks, pass parts and messages of modules and analyses 1.9 kB;
// post-processors behind one another, tokens of a model's own, sides of classes and chat_template.jinja 0.8 kB, changes of
// generation_config 0.3 kB of all; analyses of more architectures and their refusals 0.8 kB of everything, what runs of a
// sweep may not share and losses without padding 0.3 kB, pages without a cache 0.1 kB of what reads from servers; hosts,
// lengths and turns 0.2 kB of all, lengths of embedded texts 0.1 kB of everything; a Whisper's prompt in generate() and texts
// without timestamps 0.3 kB of all, special tokens of more classes, Maps as options and compressed texts 0.2 kB, adapters in
// weights and analyses on request 0.5 kB of everything; metrics of whole batches and stacks of one row 0.5 kB of
// everything, repairs from another version and too large arrays 0.1 kB of all; versions of a file side by side in a
// browser's cache, files that change behind a redirect and branches that move 0.5 kB of what reads from servers; adapters
// in the order of calls, ids that are bigints and models of other tasks 0.3 kB of all.
const pages: readonly Page[] = [
  { name: 'a language model and its tokenizer', imports: ['AutoModelForCausalLM', 'AutoTokenizer'], limit: 45_000 },
  {
    name: 'a language model and its tokenizer from a server',
    imports: ['AutoModelForCausalLM', 'AutoTokenizer'],
    later: /^(web_folder|sha256)/,
    limit: 53_300,
  },
  { name: 'everything the package exports', imports: ['*'], limit: 118_300 },
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
  const names = readdirSync(inProject('dist')).filter((name) => name.endsWith('.wasm') || name === secondFile);
  return names.map((name) => ({
    name,
    size: brotli(readFileSync(inProject('dist', name))),
    limit: name === secondFile ? secondBrotliLimit : wasmBrotliLimit,
    by: 'brotli',
  }));
}

/** clearformer/inline with its static imports, without the second file of the WASM. */
function inlineSize(): Size {
  const files = new Set<string>();
  const add = (name: string): void => {
    if (files.has(name) || name === secondFile) return;
    files.add(name);
    const code = readFileSync(inProject('dist', name), 'utf8');
    for (const [, imported = ''] of code.matchAll(/\b(?:from|import)\s*["']\.\/([\w.-]+)["']/g)) add(imported);
  };
  add('inline.js');
  const size = [...files].reduce((sum, name) => sum + brotli(readFileSync(inProject('dist', name))), 0);
  return { name: `clearformer/inline without ${secondFile}`, size, limit: inlineBrotliLimit, by: 'brotli' };
}

/** The chunks that are loaded together with `chunk`. */
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

/** The scripts that a page with these imports loads, as bundled by Vite, including the worker's. */
async function pageSize({ name, imports, later, limit }: Page): Promise<Size> {
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
  for (const chunk of chunks.values()) if (chunk.isEntry || later?.test(chunk.name)) loadedWith(chunk, chunks, loaded);
  const worker = built.output
    .filter((each) => each.type === 'asset')
    .filter(({ fileName }) => /\bworker[^/]*\.js$/.test(fileName)); // hook_functions.js is loaded with the first function
  if (worker.length === 0) throw new SetupError('The worker is missing from the page that is measured.');
  const texts = [...[...loaded].map((chunk) => chunk.code), ...worker.map(({ source }) => source)];
  return { name: `JavaScript of ${name}`, size: texts.reduce((sum, text) => sum + gzip(text), 0), limit, by: 'gzip' };
}

export async function checkSizes(): Promise<string> {
  if (!existsSync(inProject('dist'))) throw new SetupError('dist/ is missing: run "npm run build" first.');
  const rows = [...wasmSizes(), inlineSize(), ...(await Promise.all(pages.map(pageSize)))];
  const lines = rows.map(({ name, size, limit, by }) => `${name}: ${kilobytes(size)} ${by}, limit ${kilobytes(limit)}`);
  if (rows.some(({ size, limit }) => size > limit)) throw new SetupError(lines.join('\n'));
  return lines.join('\n    ');
}
