// The npm package: web/src bundled into dist/ as ES modules, with its type declarations and the .wasm files beside it.

import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

import type { BuildOptions, Plugin } from 'esbuild';
import { run, SetupError, step } from '../toolchain/progress.js';
import { type ModuleName, modules } from './cmake.js';
import { bundleCommandLine } from './command_line.js';
import { digestOf, inProject, unlessFresh } from './fresh.js';

type Build = typeof import('esbuild').build;
/** Contents by the name that is imported. */
type Texts = Readonly<Record<string, string>>;

const entries = ['index', 'tokenizer', 'chat_template', 'elements', 'worker', 'thread'];
const inlineEntry = 'inline'; // everything in one file, for bundlers that leave the other files behind
const variants = Object.keys(modules) as ModuleName[];
const wasmFile = (variant: ModuleName): string => `${modules[variant]}.wasm`;
const glueFile = (variant: ModuleName): string => `${modules[variant]}.mjs`;
const dist = (name: string): string => inProject('dist', name);

// One glue is bundled for the builds without threads, another for those with: each two must differ in nothing but names.
function requireSameGlue(): void {
  for (const [simd128, relaxed] of [
    ['simd128', 'relaxed'],
    ['simd128-threads', 'relaxed-threads'],
  ] as const) {
    const [one, other] = [simd128, relaxed].map((variant) =>
      readFileSync(glueFile(variant), 'utf8').replaceAll(variant, ''),
    );
    if (one !== other) {
      throw new SetupError(`The WASM build ${relaxed} needs other JavaScript glue than ${simd128}, which is bundled.`);
    }
  }
}

// The package starts the WASM itself, so that nothing is left for the glue to find: its ways of doing that would make
// browser bundlers look for Node's modules and for a .wasm file of their own. Emscripten's own workers are not used: the
// glue asks whether it runs in one without saying what that is.
const glueWithoutFiles: Plugin = {
  name: 'glue without files',
  setup(build) {
    build.onLoad({ filter: /clearformer-simd128(-threads)?\.mjs$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
        .replace(/var ENVIRONMENT_IS_NODE=[^;]*;/, '')
        .replaceAll('ENVIRONMENT_IS_NODE', 'false')
        .replaceAll('ENVIRONMENT_IS_WASM_WORKER', 'false')
        .replace(/new URL\("clearformer-simd128(-threads)?\.wasm",\s*import\.meta\.url\)\.href/, '""');
      const left = /import\("[^"]*"\)|"clearformer-simd128[^"]*\.wasm",\s*import\.meta/.exec(
        text.replace(/if\(false\)\{const\{createRequire\}[^}]*\}/, ''),
      );
      if (left)
        throw new SetupError(`Emscripten's glue has changed: scripts/build/package.ts does not expect ${left[0]}.`);
      return { contents: text, loader: 'js' };
    });
  },
};

// lit's build that can be imported where there is no HTMLElement brings a whole document for servers along, which reads
// every global of a page when it is loaded: in a frame of another site that is refused. All it needs is a class to extend.
const litWithoutDocument: Plugin = {
  name: 'lit without a document',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@lit-labs\/ssr-dom-shim$/ }, ({ path }) => ({ path, namespace: 'no document' }));
    onLoad({ filter: /.*/, namespace: 'no document' }, () => ({
      contents: `export const HTMLElement = globalThis.HTMLElement ?? class {};
        export const customElements = globalThis.customElements;`,
    }));
  },
};

const bundleOptions = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  conditions: ['node'], // lit's build that can be imported where there is no HTMLElement; in browsers it does the same
  minify: true,
  sourcemap: true,
  legalComments: 'inline',
  logLevel: 'warning',
  plugins: [glueWithoutFiles, litWithoutDocument],
} satisfies BuildOptions;

// What stays a file of its own beside index.js, so that bundlers can leave it out of a page that does not use it: inside
// index.js `export * as nn` would be an object that keeps all of its members, and pipeline() would keep those of all tasks.
const separate = { nn: 'primitives/nn', d2l: 'primitives/d2l', pipeline: 'pipelines/pipeline' };
const separateFiles: Plugin = {
  name: 'separate files',
  setup(build) {
    for (const [name, path] of Object.entries(separate)) {
      build.onResolve({ filter: new RegExp(`^\\./${path}\\.js$`) }, ({ importer }) =>
        importer.endsWith('/web/src/index.ts') ? { path: `./${name}.js`, external: true } : undefined,
      );
    }
  },
};

async function bundleModules(build: Build): Promise<void> {
  await build({
    ...bundleOptions,
    plugins: [...bundleOptions.plugins, separateFiles],
    entryPoints: Object.fromEntries([
      ...entries.map((name) => [name, inProject(`web/src/${name}.ts`)]),
      ...Object.entries(separate).map(([name, path]) => [name, inProject(`web/src/${path}.ts`)]),
    ]),
    outdir: inProject('dist'),
    splitting: true,
    chunkNames: '[name]-[hash]',
  });
}

/** Puts runtime/assets_inline.ts in the place of runtime/assets.ts, with these texts for its files. */
const inlineFiles = (texts: Texts): Plugin => ({
  name: 'inline files',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/assets\.js$/ }, () => ({ path: inProject('web/src/runtime/assets_inline.ts') }));
    onResolve({ filter: /^inline:/ }, ({ path }) => ({ path: path.replace('inline:', ''), namespace: 'inline' }));
    onLoad({ filter: /.*/, namespace: 'inline' }, ({ path }) => ({ contents: texts[path] ?? '', loader: 'text' }));
  },
});

/** A script of a worker in one piece. */
async function scriptText(build: Build, name: string, texts: Texts): Promise<string> {
  const { outputFiles } = await build({
    ...bundleOptions,
    sourcemap: false,
    plugins: [...bundleOptions.plugins, inlineFiles(texts)],
    entryPoints: [inProject(`web/src/${name}.ts`)],
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

async function bundleInline(build: Build): Promise<void> {
  const zipped = (variant: ModuleName): string =>
    gzipSync(readFileSync(wasmFile(variant)), { level: 9 }).toString('base64');
  const nothing = Object.fromEntries(['worker', ...variants].map((name) => [name, '']));
  const thread = await scriptText(build, 'thread', {});
  // The worker is handed the WASM, and starts threads but no worker.
  const worker = await scriptText(build, 'worker', { ...nothing, thread });
  const wasm = Object.fromEntries(variants.map((variant) => [variant, zipped(variant)]));
  await build({
    ...bundleOptions,
    sourcemap: false,
    plugins: [...bundleOptions.plugins, inlineFiles({ ...wasm, worker, thread })],
    entryPoints: [inProject(`web/src/${inlineEntry}.ts`)],
    outfile: dist(`${inlineEntry}.js`),
  });
}

async function makeDist(): Promise<void> {
  requireSameGlue();
  rmSync(inProject('dist'), { recursive: true, force: true });
  mkdirSync(inProject('dist'));
  for (const variant of variants) copyFileSync(wasmFile(variant), dist(`clearformer-${variant}.wasm`));
  const { build } = await import('esbuild');
  await bundleModules(build);
  await bundleInline(build);
  await bundleCommandLine(build, bundleOptions);
  const tsc = inProject('node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '-p', inProject('tsconfig.package.json')], { cwd: inProject() });
}

export async function buildPackage(): Promise<void> {
  for (const file of variants.flatMap((variant) => [wasmFile(variant), glueFile(variant)])) {
    if (!existsSync(file)) throw new SetupError(`${file} is missing: run "npm run build -- wasm" first.`);
  }
  const inputs = [
    'web/src',
    'scripts/build',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.package.json',
  ];
  const recipe = {
    stamp: inProject('build/package.stamp'),
    digest: digestOf([
      ...inputs.map((name) => inProject(name)),
      ...variants.flatMap((each) => [wasmFile(each), glueFile(each)]),
    ]),
    outputs: [
      ...[...entries, inlineEntry].flatMap((name) => [dist(`${name}.js`), dist(`${name}.d.ts`)]),
      ...variants.map((each) => dist(`clearformer-${each}.wasm`)),
      dist('cli.js'),
    ],
  };
  await unlessFresh(recipe, () => step('Building the package (dist/)', makeDist));
}
