// The npm package: web/src bundled into dist/ as ES modules, with type declarations and the .wasm files beside it, and
// the single-file builds (one_file.ts).

import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { partNames } from '../../web/src/runtime/needed_parts.js';
import { SetupError, step } from '../toolchain/progress.js';
import { type ModuleName, modules } from './cmake.js';
import { bundleCommandLine } from './command_line.js';
import { emitDeclarations } from './declarations.js';
import { digestOf, inProject, unlessFresh } from './fresh.js';
import { tablesOf } from './glue.js';
import { bundledFile } from './licences.js';
import { bundleModules, entries } from './modules.js';
import { bundleInOneFile } from './one_file.js';
import { fileOf, filesOf } from './split.js';

const variants = Object.keys(modules) as ModuleName[];
const glueFile = (variant: ModuleName): string => `${modules[variant]}.mjs`;
const dist = (name: string): string => inProject('dist', name);

/** One glue is bundled for all builds, which therefore name what they import and export alike. */
function requireSameGlue(): void {
  for (const variant of variants) {
    if (tablesOf(glueFile(variant)) === tablesOf(glueFile('simd128'))) continue;
    throw new SetupError(`The WASM build ${variant} needs other JavaScript glue than simd128, which is bundled.`);
  }
}

async function makeDist(): Promise<void> {
  requireSameGlue();
  rmSync(inProject('dist'), { recursive: true, force: true });
  mkdirSync(inProject('dist'));
  for (const variant of variants) copyFileSync(fileOf(modules[variant], 'first'), dist(`clearformer-${variant}.wasm`));
  await bundleModules();
  await bundleInOneFile(modules.simd128);
  await bundleCommandLine();
  await emitDeclarations();
}

export async function buildPackage(): Promise<void> {
  const files = variants.flatMap((variant) => [...filesOf(modules[variant]), glueFile(variant)]);
  for (const file of files) {
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
    digest: digestOf([...inputs.map((name) => inProject(name)), ...files]),
    outputs: [
      ...[...entries, 'whole', 'worker'].flatMap((name) => [dist(`${name}.js`), dist(`${name}.d.ts`)]),
      ...['node', 'inline', 'embedded', ...partNames, 'hook_functions'].map((name) => dist(`${name}.js`)),
      ...variants.map((each) => dist(`clearformer-${each}.wasm`)),
      dist('cli.js'),
      bundledFile,
    ],
  };
  await unlessFresh(recipe, () => step('Building the package (dist/)', makeDist));
}
