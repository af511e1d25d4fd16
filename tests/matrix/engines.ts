// JavaScript runtimes other than browsers, and test runners.

import { type Project, program, story } from './project.js';

const test = `
test('writes', async () => {
  const { story } = await import('./story.js');
  const text = await story('./public/model');
  const { softmax } = await import('clearformer');
  expect((await softmax([1, 1])).tolist()).toEqual([0.5, 0.5]);
  require('node:fs').writeFileSync('told.txt', text);
}, 60000);
`;
const vitestTest = test.replace("require('node:fs')", "(await import('node:fs'))");

const required = story
  .replace(/import (.*) from 'clearformer'/, "const $1 = require('clearformer')")
  .replace('export ', '');

const node = (version: string, packages: Readonly<Record<string, string>>): Project[] => [
  {
    name: `Node${version}, import`,
    packages,
    files: program,
    run: { kind: 'program', command: 'node main.js' },
  },
  {
    name: `Node${version}, require`,
    packages,
    files: { 'main.cjs': `${required}\nstory('./public/model').then(console.log);\n` },
    run: { kind: 'program', command: 'node main.cjs' },
  },
];

const jest = (environment: string, more: Pick<Project, 'packages' | 'settings'>): Project => ({
  name: `Jest, ${environment}`,
  packages: { jest: '30', ...more.packages },
  files: { 'story.js': story, 'story.test.cjs': test },
  ...(more.settings && { settings: more.settings }),
  run: { kind: 'program', command: 'NODE_OPTIONS=--experimental-vm-modules jest 2>&1; cat told.txt' },
});

export const engines: readonly Project[] = [
  ...node('', {}),
  ...['22', '24', '26'].flatMap((version) => node(` ${version}`, { node: version })),
  {
    name: 'Bun',
    packages: { bun: '1' },
    files: program,
    run: { kind: 'program', command: 'bun main.js' },
  },
  {
    name: 'Deno',
    packages: { deno: '2' },
    files: program,
    run: { kind: 'program', command: 'deno run --allow-all --node-modules-dir=manual main.js' },
  },
  jest('node', { packages: {}, settings: { 'jest.config.cjs': 'jest' } }),
  jest('jsdom', {
    packages: { jsdom: '26' },
    settings: { 'jest.config.cjs': 'jest-jsdom', 'jest-jsdom.cjs': 'jest-jsdom-environment' },
  }),
  ...['node', 'jsdom'].map(
    (environment): Project => ({
      name: `vitest, ${environment}`,
      packages: { vitest: '4', jsdom: '26' },
      files: { 'story.js': story, 'story.test.js': vitestTest },
      run: { kind: 'program', command: `vitest run --globals --environment ${environment} 2>&1; cat told.txt` },
    }),
  ),
];
