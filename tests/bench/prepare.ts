// Prepares everything before timing: peers, programs, package, models.

import { buildPreset, tools, wasmPreset } from '../../scripts/build/cmake.js';
import { digestOf, inProject, unlessFresh } from '../../scripts/build/fresh.js';
import { installPackagesOf } from '../../scripts/build/own_packages.js';
import { steps } from '../../scripts/build.js';
import { run } from '../../scripts/toolchain/progress.js';
import { childScript, pageContenders, tensorflowFiles } from './hosts/places.js';
import { makeSource } from './models/make.js';
import type { Contender, Engine } from './types.js';

const here = inProject('tests/bench');

/** The contenders' modules, for pages and for processes. */
async function bundleContenders(): Promise<void> {
  const { build } = await import('esbuild');
  const shared = { bundle: true, format: 'esm', target: 'es2022', logLevel: 'error' } as const;
  const entry = (name: string): string[] => [inProject('tests/bench', name)];
  const page = {
    entryPoints: entry('contenders/contender.ts'),
    outfile: inProject(pageContenders),
    external: ['node:*'],
  };
  await build({ ...shared, ...page, platform: 'browser' });
  await build({ ...shared, entryPoints: entry('hosts/child.ts'), outfile: inProject(childScript), platform: 'node' });
}

/** The used part of TensorFlow.js as one file: for a page, and for Node, where it finds its files itself. */
const tensorflowExports = {
  page: `export { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
    export * from '@tensorflow/tfjs-core';`,
  node: `export { setThreadsCount } from '@tensorflow/tfjs-backend-wasm';
    export * from '@tensorflow/tfjs-core';
    export const setWasmPaths = () => {};`,
};

async function bundleTensorFlow(): Promise<void> {
  const { build } = await import('esbuild');
  const recipe = {
    stamp: inProject(`${tensorflowFiles.web}.stamp`),
    digest: digestOf([inProject('tests/bench/package-lock.json'), inProject('tests/bench/prepare.ts')]),
    outputs: Object.values(tensorflowFiles).map((file) => inProject(file)),
  };
  const shared = { bundle: true, minify: true, logLevel: 'error' } as const;
  const from = (contents: string) => ({ stdin: { contents, resolveDir: here } });
  await unlessFresh(recipe, async () => {
    const page = { ...from(tensorflowExports.page), format: 'esm', platform: 'browser' } as const;
    await build({ ...shared, ...page, outfile: inProject(tensorflowFiles.web) });
    const node = { ...from(tensorflowExports.node), format: 'cjs', platform: 'node', packages: 'external' } as const;
    await build({ ...shared, ...node, outfile: inProject(tensorflowFiles.node) });
  });
}

/** Our package as bundled for a page, for measuring start-up. */
async function bundleOwn(): Promise<void> {
  const { build } = await import('vite');
  const entry = inProject('tests/bench/clearformer_entry.ts');
  const folder = inProject('build/bench/own');
  const recipe = {
    stamp: `${folder}.stamp`,
    digest: digestOf([inProject('dist'), entry]),
    outputs: [`${folder}/index.js`],
  };
  await unlessFresh(recipe, () =>
    build({
      configFile: false,
      root: here,
      base: './',
      logLevel: 'error',
      publicDir: false,
      resolve: { alias: { clearformer: inProject('dist/index.js') } },
      worker: { format: 'es' },
      build: {
        target: 'es2022',
        outDir: folder,
        emptyOutDir: true,
        modulePreload: { polyfill: false },
        rollupOptions: {
          input: entry,
          // As in a page, whose script exports nothing: with 'strict' everything that parts share is a file of its own.
          preserveEntrySignatures: 'allow-extension',
          output: { entryFileNames: 'index.js' },
        },
      },
    }),
  );
}

/** Builds the bench programs of one preset; the setting persists in the preset's folder. */
async function buildPrograms(preset: string): Promise<void> {
  await buildPreset(preset, ['clearformer']);
  const { cmake } = await tools.build();
  const env = preset === wasmPreset ? (await tools.wasm()).env : {};
  await run(cmake, [inProject('build', preset), '-DCLEARFORMER_BUILD_BENCH=ON'], { env });
  await buildPreset(preset, ['clearformer_bench']);
}

/** Builds everything for the selected engines. */
export async function prepareEngines(engines: readonly Engine[]): Promise<void> {
  await installPackagesOf('tests/bench');
  await steps.wasm();
  await steps.package();
  await bundleContenders();
  await bundleTensorFlow();
  await bundleOwn();
  if (engines.includes('native')) await buildPrograms('release');
  if (engines.some((engine) => engine !== 'native')) await buildPrograms(wasmPreset);
}

/** Makes the files of an item's contenders; resolves to their paths, undefined where there are none. */
export async function preparePaths(contenders: readonly Contender[]): Promise<(string | undefined)[]> {
  const paths: (string | undefined)[] = [];
  for (const { make, path } of contenders) paths.push(make ? await makeSource(make) : path);
  return paths;
}
