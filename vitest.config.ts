// Three groups of tests: the package under Node, the built page in a real Chromium driven from Node, and by `npm run examples`
// the projects of web/examples that install from the registry.

import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

import { nodeFlags } from './scripts/node_flags.js';

const dist = fileURLToPath(new URL('./dist/', import.meta.url));
// The package by its own name is what was built, not web/src: the tests run what users get.
const alias = [
  { find: /^clearformer$/, replacement: `${dist}index.js` },
  { find: /^clearformer\/(\w+)$/, replacement: `${dist}$1.js` },
];

// Downloads of the tests are theirs alone: neither found from earlier ones nor left behind, and no token of this machine's
// user is sent.
const home = mkdtempSync(join(tmpdir(), 'clearformer-home-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

/** Files that take long begin first, so that none is left over at the end for one processor alone. */
class LongestFirst extends BaseSequencer {
  static readonly #long =
    /\/(controls|every_chapter|firefox|subjects|walks|tokenizer_unicode|dtypes|speech_times|real_models|cli_models|threads|tokenizer_sample|examples_projects|inspect)\.test\.ts$/;

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LongestFirst.#long.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const shared = {
  env: { HF_HOME: home, HF_HUB_CACHE: '', HF_TOKEN: '', HF_ENDPOINT: '', HF_HUB_OFFLINE: '' },
  environment: 'node',
  pool: 'forks',
  maxWorkers: availableParallelism(), // else one core is left idle
  execArgv: nodeFlags,
};

export default defineConfig({
  resolve: { alias },
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'ts',
          maxWorkers: availableParallelism() + 1, // else a processor is idle while a test waits
          include: ['tests/web/**/*.test.ts'],
          exclude: ['tests/web/browser/**'],
          server: { deps: { external: [/\/dist\/cli\.js/] } }, // the program is loaded as users' Node does it
          testTimeout: 300_000, // only what hangs shall end: files run side by side, and a slow or busy machine is no fault
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'browser',
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
          maxWorkers: 1, // their own commands use every processor
          testTimeout: 300_000, // an installation from the registry is part of each
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
