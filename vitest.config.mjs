// Two groups of tests: the package under Node, and the built page in a real Chromium driven from Node.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

import { nodeFlags } from './scripts/node_flags.mjs';

const dist = fileURLToPath(new URL('./dist/index.js', import.meta.url));

const shared = {
  environment: 'node',
  pool: 'forks',
  execArgv: nodeFlags,
};

export default defineConfig({
  resolve: { alias: [{ find: /^clearformer$/, replacement: dist }] },
  test: {
    projects: [
      {
        extends: true,
        test: { ...shared, name: 'ts', include: ['tests/web/**/*.test.ts'], exclude: ['tests/web/browser/**'] },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'browser',
          include: ['tests/web/browser/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
