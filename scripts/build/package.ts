// The npm package: web/src bundled into dist/ as ES modules, with type declarations and the .wasm files beside it, and
// the single-file builds (one_file.ts).

import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';

import type { BuildOptions, Plugin } from 'esbuild';
import { SetupError, step } from '../toolchain/progress.js';
import { type ModuleName, modules } from './cmake.js';
import { bundleCommandLine } from './command_line.js';
import { emitDeclarations } from './declarations.js';
import { digestOf, inProject, unlessFresh } from './fresh.js';
import { tablesOf } from './glue.js';
import { bundledFile, noteBundled } from './licences.js';
import { bundleInOneFile, minified } from './one_file.js';
import { filesInPart, textInPart } from './part_of.js';

type Build = typeof import('esbuild').build;

const entries = ['index', 'tokenizer', 'chat_template', 'elements'];
const variants = Object.keys(modules) as ModuleName[];
const wasmFile = (variant: ModuleName): string => `${modules[variant]}.wasm`;
const glueFile = (variant: ModuleName): string => `${modules[variant]}.mjs`;
const dist = (name: string): string => inProject('dist', name);

/** One glue is bundled for all builds, which therefore name what they import and export alike. */
function requireSameGlue(): void {
  for (const variant of variants) {
    if (tablesOf(glueFile(variant)) === tablesOf(glueFile('simd128'))) continue;
    throw new SetupError(`The WASM build ${variant} needs other JavaScript glue than simd128, which is bundled.`);
  }
}

const filesOfOthersInPart: Plugin = {
  name: 'files of others in part',
  setup({ onLoad }) {
    onLoad({ filter: filesInPart }, ({ path }) => ({ contents: textInPart(path), loader: 'js' }));
  },
};

// lit's build for environments without HTMLElement includes a whole server-side document, which reads every global of a
// page on load: in a cross-origin frame that is refused. All that is needed is a class to extend.
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
  conditions: ['node'], // lit's build without HTMLElement; the same in browsers
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'inline',
  logLevel: 'warning',
  plugins: [filesOfOthersInPart, litWithoutDocument, noteBundled],
} satisfies BuildOptions;

// Modules that stay separate from index.js, so that bundlers can drop them from pages that do not use them: inside
// index.js `export * as nn` would be an object that keeps all of its members, and pipeline() would keep those of all
// tasks.
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
  const { outputFiles } = await build({
    write: false,
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
  for (const { path, text } of outputFiles) writeFileSync(path, await minified(text));
}

async function makeDist(): Promise<void> {
  requireSameGlue();
  rmSync(inProject('dist'), { recursive: true, force: true });
  mkdirSync(inProject('dist'));
  for (const variant of variants) copyFileSync(wasmFile(variant), dist(`clearformer-${variant}.wasm`));
  const { build } = await import('esbuild');
  await bundleModules(build);
  await bundleInOneFile(build, bundleOptions, wasmFile('simd128'));
  await bundleCommandLine(build, bundleOptions);
  await emitDeclarations();
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
      ...[...entries, 'whole', 'worker'].flatMap((name) => [dist(`${name}.js`), dist(`${name}.d.ts`)]),
      ...['node', 'inline', 'embedded'].map((name) => dist(`${name}.js`)),
      ...variants.map((each) => dist(`clearformer-${each}.wasm`)),
      dist('cli.js'),
      bundledFile,
    ],
  };
  await unlessFresh(recipe, () => step('Building the package (dist/)', makeDist));
}
