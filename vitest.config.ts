// Two groups of tests: the package under Node, and the built page in a real Chromium driven from Node.

import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

import { nodeFlags } from './scripts/node_flags.js';

const dist = fileURLToPath(new URL('./dist/', import.meta.url));
// The package by its own name is what was built, not web/src: the tests run what users get.
const alias = [
  { find: /^clearformer$/, replacement: `${dist}index.js` },
  { find: /^clearformer\/(\w+)$/, replacement: `${dist}$1.js` },
];

const shared = {
  environment: 'node',
  pool: 'forks',
  maxWorkers: availableParallelism(), // else one core is left idle
  execArgv: nodeFlags,
};

export default defineConfig({
  resolve: { alias },
  test: {
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'ts',
          include: ['tests/web/**/*.test.ts'],
          exclude: ['tests/web/browser/**'],
          testTimeout: 60_000, // files run side by side: a slow or busy machine is no fault
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'browser',
          include: ['tests/web/browser/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
