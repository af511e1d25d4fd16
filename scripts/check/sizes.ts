// Download sizes, compressed as by servers, and their limits.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import type { Rolldown } from 'vite';
import { type PartName, partNames } from '../../web/src/runtime/needed_parts.js';
import { inProject } from '../build/fresh.js';
import { SetupError } from '../toolchain/progress.js';

// The first version took 147 kB. What has come since, in kB as measured when it came: tables and layers of 31 more
// model types, 13; inputs, results, captures and edits inside a model, 6.5; products of q8 for inputs of 7 and of 13
// bits, with a second one in relaxed SIMD for processors without a product of bytes, 6; costs computed before the work,
// and errors that name file, key and value, 5; threads, also in pages without, 5 (a second pair of programs was 0.57 MB
// of the package); blocks of logits, layers that are computed twice, costs of differentiated passes and gradients of
// single heads, 4.4; checks of sizes, options, caches, inputs and files, 3.5; keys and values in fp16 and eight bits,
// 2; logits of some positions and copies of a cache, 0.7. What the most used models run without is in parts
// (scripts/build/split.ts): of the first file, tensor functions, modules and gradients were 26 kB, architectures 18 kB,
// hooks 8 kB; all files together take 17 kB more than one would, and 0.35 kB of JavaScript add them. 6 kB less are since the compiler inlines less
// (CMakeLists.txt), 3 kB since functions that share code stand side by side (function_order.ts), and 3 kB since rules of
// tensor names are texts and flags of rows and layers are bytes, and 7 kB since the parts have the constants that only they
// read (constants_of_parts.ts): `families` 7.2, `second` 5.3, `hooks` 0.7. Of the parts, a classifier behind an encoder and a
// decoder (bart-large-mnli) takes 0.7 kB of `families`, which had 22.4, answers to questions and T5's heads 0.2 kB. LFM2's
// convolutions, which a cache holds as well, and mixtures of experts take 4.3 kB of `families`, 2.2 of the first file, 1.5 of `second`;
// ESM takes 1 kB of `families`, 0.2 of `second`; encoders of samples (wav2vec 2.0, HuBERT) 5 kB of `families` and 0.6 of the first file.
// Qwen3.5's delta rules take 4.3 kB of `families`; kernels of gradients alone are in `second` since (0.9), not in the first file.
// Ten more language models and encoders, and heads on 31 language models, take 0.5 kB of the first file and 1.2 of `families`; DINOv3
// 0.4 and 1.2; Hunyuan, nanochat, ModernBERT's decoder and Granite 4 0.3 and 0.8, and 0.3 of `second`;
// Halves without subnormal ones take 0.2 of `second` and of the first file.
// AST and its feature extractor 0.3 and 1.9; Nemotron, XGLM, BioGPT and both Blenderbots 0.5 of `families` (which file the
// compressor suits best varies by 0.5 from build to build).
const wasmBrotliLimit = 147_200;
const partLimits: Readonly<Record<PartName, number>> = { second: 87_000, hooks: 11_900, families: 51_500 };
const partOf = (file: string): PartName | undefined => partNames.find((part) => file === `${part}.js`);
// Without the parts, which have limits of their own. 150 kB are the WASM, the rest is all of the package's
// JavaScript, of which, in kB as measured when they came: labels, new models and their distributions, 6; metrics, parts
// of captures, probes and sweeps, 3; values of Python in chat templates and the relatives of refused model types, 2.5;
// calls in their order, caches for several calls and values of other kinds, 2; post-processors, special tokens and
// sides of tokenizers' classes, 2; arguments, options and members of the wrong type, 1.4; hook functions in a worker,
// 1.3; analyses of more architectures and their refusals, 1.2; prompts and settings of generations, 1.1; weights
// rounded in vectorised loops and folders of other libraries, 1; line ends, hosts and lengths of texts, 0.9; adapters
// in the order of calls and models of other tasks, 0.6; feature extractor, tokenizer and classes of encoders of samples,
// and those of ESM and Qwen3.5, 1.4; the classes of seventeen more model types and of heads on language models, 1.2; white space of templates as Jinja removes it, 0.5; inherited
// options, caches that are being filled and names of broken files, 0.4.
const inlineBrotliLimit = 295_600;

interface Page {
  name: string;
  imports: readonly string[];
  /** Names of chunks that are loaded later but counted. */
  later?: RegExp;
  limit: number;
}

// Rules for the values of every file beside a model, and errors that name them, are 2 kB of the first limit. Every page
// includes Tensor and its methods (1.9 kB); the model classes with transformers' names, tensor functions and RawImage
// (6 kB) are included if named. A bundler keeps what a page imports; pipelines are loaded by task, and on demand the
// code that reads from servers, from files and records that the caller gives, and of cores outside of workers. The
// worker script, part of every total, is one file that every bundler can copy: it includes the 2 kB for builds with
// threads, which used to be a separate file that was not counted. In kB of all, as measured when they came: tokenizers'
// post-processors, sides and special tokens, 1; arguments, options and members of the wrong type, 0.9 (1.8 of
// everything); the order of calls, caches for several calls and Tensor's limits, 0.7 (with masks and messages of
// modules 1.9 of everything); adding parts of the WASM, 1.1; hosts, addresses of the Hub and files that are none,
// 0.6; monitored workers and a self-test of the core, 0.5; changes of generation_config, 0.3, inherited options and
// caches that are being filled, 0.2; a Whisper's prompt, 0.3; adapters in the order of calls, 0.3. Of everything:
// sweeps and what is built on them, 7.3; probes and control vectors, 6; analyses of more architectures, their refusals
// and adapters in weights, 1.3; metrics of embeddings and of batches, 1.2; edits and gradients of modules, 1;
// white space of templates and members of lists of criteria, 0.2; the progress of small files, 0.2; layers without attention
// in analyses and eleven more model types, 0.4. Of what reads from servers: versions of a file side by
// side in a browser's cache and branches that move, 0.6; settings and cached records that may not be read, 0.1.
const pages: readonly Page[] = [
  { name: 'a language model and its tokenizer', imports: ['AutoModelForCausalLM', 'AutoTokenizer'], limit: 45_000 },
  {
    name: 'a language model and its tokenizer from a server',
    imports: ['AutoModelForCausalLM', 'AutoTokenizer'],
    later: /^(web_folder|sha256)/,
    limit: 53_800,
  },
  { name: 'everything the package exports', imports: ['*'], limit: 121_800 },
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
  const names = readdirSync(inProject('dist')).filter((name) => name.endsWith('.wasm') || partOf(name));
  return names.map((name) => {
    const part = partOf(name);
    const size = brotli(readFileSync(inProject('dist', name)));
    return { name, size, limit: part ? partLimits[part] : wasmBrotliLimit, by: 'brotli' };
  });
}

/** clearformer/inline with its static imports, without the parts of the WASM. */
function inlineSize(): Size {
  const files = new Set<string>();
  const add = (name: string): void => {
    if (files.has(name) || partOf(name)) return;
    files.add(name);
    const code = readFileSync(inProject('dist', name), 'utf8');
    for (const [, imported = ''] of code.matchAll(/\b(?:from|import)\s*["']\.\/([\w.-]+)["']/g)) add(imported);
  };
  add('inline.js');
  const size = [...files].reduce((sum, name) => sum + brotli(readFileSync(inProject('dist', name))), 0);
  return { name: 'clearformer/inline without the parts of the WASM', size, limit: inlineBrotliLimit, by: 'brotli' };
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
