// What must be there before anything is timed: peers, programs, package, models.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

import { buildPreset, tools, WASM_PRESET } from '../../scripts/build/cmake.mjs';
import { digestOf, inProject, unlessFresh } from '../../scripts/build/fresh.mjs';
import { steps } from '../../scripts/build.mjs';
import { run, step } from '../../scripts/toolchain/progress.mjs';
import { makeSource } from './models/make.mjs';

const HERE = inProject('tests/bench');

/** The peers' packages, without their install scripts, which would download more. */
async function installPeers() {
  const lock = inProject('tests/bench/package-lock.json');
  const stamp = inProject('tests/bench/node_modules/.clearformer-lock');
  const digest = digestOf([lock], `${process.platform} ${process.arch}`);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  const args = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await step('Installing the peers (npm ci in tests/bench)', () => run('npm', args, { cwd: HERE }));
  writeFileSync(stamp, digest);
}

async function bundleTensorFlow() {
  const { build } = await import('esbuild');
  const output = inProject('build/bench/tensorflow.js');
  const recipe = {
    stamp: `${output}.stamp`,
    digest: digestOf([inProject('tests/bench/package-lock.json'), inProject('tests/bench/tensorflow_entry.mjs')]),
    outputs: [output],
  };
  await unlessFresh(recipe, () =>
    build({
      entryPoints: [inProject('tests/bench/tensorflow_entry.mjs')],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      minify: true,
      logLevel: 'error',
      outfile: output,
    }),
  );
}

/** Ours as a bundler leaves it for a page: what start-up is measured with. */
async function bundleOwn() {
  const { build } = await import('vite');
  const entry = inProject('tests/bench/clearformer_entry.mjs');
  const folder = inProject('build/bench/own');
  const recipe = {
    stamp: `${folder}.stamp`,
    digest: digestOf([inProject('dist'), entry]),
    outputs: [`${folder}/index.js`],
  };
  await unlessFresh(recipe, () =>
    build({
      configFile: false,
      root: HERE,
      base: './',
      logLevel: 'error',
      publicDir: false,
      resolve: { alias: { clearformer: inProject('dist/index.js') } },
      worker: { format: 'es' },
      build: {
        target: 'es2022',
        outDir: folder,
        emptyOutDir: true,
        modulePreload: false,
        rollupOptions: {
          input: entry,
          preserveEntrySignatures: 'strict',
          output: { entryFileNames: 'index.js' },
        },
      },
    }),
  );
}

/** Builds the bench programs of one preset; the setting stays in the preset's folder from here on. */
async function buildPrograms(preset) {
  await buildPreset(preset, ['clearformer']);
  const { cmake } = await tools.build();
  const { env } = preset === WASM_PRESET ? await tools.wasm() : {};
  await run(cmake, [inProject('build', preset), '-DCLEARFORMER_BUILD_BENCH=ON'], { env });
  await buildPreset(preset, ['clearformer_bench']);
}

/** Everything that is built, for the engines named. */
export async function prepareEngines(engines) {
  await installPeers();
  await steps.wasm();
  await steps.package();
  await bundleTensorFlow();
  await bundleOwn();
  if (engines.includes('native')) await buildPrograms('release');
  if (engines.some((engine) => engine !== 'native')) await buildPrograms(WASM_PRESET);
}

/** Makes what the contenders of an item load; resolves to their paths, undefined where there is nothing. */
export async function preparePaths(contenders) {
  const paths = [];
  for (const { make, path } of contenders) paths.push(make ? await makeSource(make) : path);
  return paths;
}
