// The npm package: web/src bundled into dist/ as ES modules, with its type declarations and the .wasm files beside it.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';

import { run, SetupError, step } from '../toolchain/progress.mjs';
import { WASM_PRESETS } from './cmake.mjs';
import { digestOf, inProject, unlessFresh } from './fresh.mjs';

const ENTRIES = ['index', 'worker'];
const variants = WASM_PRESETS.map((preset) => preset.replace('wasm-', ''));
const wasmFile = (variant) => inProject(`build/wasm-${variant}/clearformer-${variant}.wasm`);
const glueFile = (variant) => inProject(`build/wasm-${variant}/clearformer-${variant}.mjs`);
const dist = (name) => inProject('dist', name);

const bundleOptions = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  minify: true,
  sourcemap: true,
  legalComments: 'inline',
  external: ['node:*'],
  logLevel: 'warning',
};

// One glue is bundled for both builds, so they must differ in nothing but the file's name.
function requireSameGlue() {
  const texts = variants.map((variant) => readFileSync(glueFile(variant), 'utf8').replaceAll(variant, ''));
  if (texts.some((text) => text !== texts[0])) {
    throw new SetupError("The two WASM builds need different JavaScript glue, but the package bundles only simd128's.");
  }
}

async function bundle() {
  const { build } = await import('esbuild');
  await build({
    ...bundleOptions,
    entryPoints: ENTRIES.map((name) => inProject(`web/src/${name}.ts`)),
    outdir: inProject('dist'),
    splitting: true,
    chunkNames: 'chunk-[hash]',
  });
}

async function makeDist() {
  requireSameGlue();
  rmSync(inProject('dist'), { recursive: true, force: true });
  mkdirSync(inProject('dist'));
  for (const variant of variants) copyFileSync(wasmFile(variant), dist(`clearformer-${variant}.wasm`));
  await bundle();
  const tsc = inProject('node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '-p', inProject('tsconfig.package.json')], { cwd: inProject() });
}

export async function buildPackage() {
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
      ...ENTRIES.flatMap((name) => [dist(`${name}.js`), dist(`${name}.d.ts`)]),
      ...variants.map((each) => dist(`clearformer-${each}.wasm`)),
    ],
  };
  await unlessFresh(recipe, () => step('Building the package (dist/)', makeDist));
}
