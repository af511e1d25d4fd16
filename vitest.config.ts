// Three test projects: the package under Node, the built page in Chromium driven from Node, and, for `npm run
// examples`, the projects of web/examples that install from the registry.

import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from 'vitest/node';

import { nodeFlags } from './scripts/node_flags.js';

const dist = fileURLToPath(new URL('./dist/', import.meta.url));
// `clearformer` is resolved to the built package, not to web/src: the tests run what users get. Modules of web/src have
// the package's built parts of the core.
const alias = [
  { find: /^built:(\w+)$/, replacement: `${dist}$1.js` },
  { find: /^clearformer$/, replacement: `${dist}index.js` },
  { find: /^clearformer\/(\w+)$/, replacement: `${dist}$1.js` },
];

// A separate home for the tests' downloads: not shared with earlier ones, removed afterwards, and without the user's
// Hub token.
const home = mkdtempSync(join(tmpdir(), 'clearformer-home-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

/** Long-running files start first, so that none is left over at the end for a single processor. */
class LongestFirst extends BaseSequencer {
  static readonly #long = new Set(
    [
      'class_mode controls every_chapter walks subjects firefox training files package loading site_csp',
      'tokenizer tokenizer_unicode tokenizer_sample hostile_texts hostile_templates malformed misuse inspect',
      'worker_deaths threads soak determinism folder_corpus disk_cache real_models cli_models cli runtime architectures',
      'dtypes slices speech_times generation_reference examples examples_projects',
    ].flatMap((names) => names.split(' ')),
  );

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LongestFirst.#long.has(basename(moduleId, '.test.ts'));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** Names the tests that passed only when repeated, with the errors before, so that they are looked at. */
const namesRepeated: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules)
      for (const test of module.children.allTests('passed')) {
        if (!test.diagnostic()?.flaky) continue;
        console.log(`\nPassed only when repeated: ${module.relativeModuleId}: ${test.fullName}`);
        for (const { message, stack } of test.result().errors ?? []) console.log(stack ?? message);
      }
  },
};

/**
 * Garbage is collected by the main thread, from a nursery (V8's new space) that starts larger: with several processes a
 * processor, V8's helper threads only take time from each other, a fifth of that of the package's tests.
 */
const collectorFlags = ['--single-threaded-gc', '--min-semi-space-size=16'];

const shared = {
  env: { HF_HOME: home, HF_HUB_CACHE: '', HF_TOKEN: '', HF_ENDPOINT: '', HF_HUB_OFFLINE: '' },
  environment: 'node',
  setupFiles: ['tests/web/support/equal_tensors.ts'],
  pool: 'forks',
  maxWorkers: availableParallelism(), // the default leaves one core idle
  execArgv: [...nodeFlags, ...collectorFlags],
};

/** With one worker for each core, one core would be idle while a test waits for a timer, a server or its page. */
const oneMoreWorker = availableParallelism() + 1;

export default defineConfig({
  resolve: { alias },
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ['default', namesRepeated],
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'ts',
          maxWorkers: oneMoreWorker,
          include: ['tests/web/**/*.test.ts'],
          exclude: ['tests/web/browser/**'],
          server: { deps: { external: [/\/dist\//] } }, // loaded as by users' Node, which also takes less time
          testTimeout: 300_000, // only for tests that hang: files run in parallel, possibly on a slow or busy machine
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'browser',
          maxWorkers: oneMoreWorker,
          retry: 1, // a busy machine may press and release a button in different places of a page that is still moving
          isolate: false, // files share processes: a new one and its imports take 0.4 s of processor time
          include: ['tests/web/browser/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'examples',
          include: ['tests/examples/**/*.test.ts'],
          maxWorkers: 1, // their own commands use all processors
          testTimeout: 300_000, // each installs from the registry
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
