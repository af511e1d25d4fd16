// npm run soak [-- number]: calls generate() 100,000 times on one model, differentiates, trains, edits and patches another
// 20,000 times, and loads and disposes 10,000 models in Node, a tenth of it in workers and in Chromium, and fails if memory or handles grow: tests/web/soak.test.ts and
// tests/web/browser/soak.test.ts with large numbers. A number other than 1 multiplies them, e.g. 0.1.

import { inProject } from './build/fresh.js';
import { steps } from './build.js';
import { type Command, reportErrors } from './main.js';
import { run, SetupError, step } from './toolchain/progress.js';
import { findChromium, findHeadlessShell } from './toolchain.js';

async function soak([word = '1', ...more]: readonly string[]): Promise<void> {
  const share = Number(word);
  if (!(share > 0) || more.length > 0) throw new SetupError('npm run soak takes one number > 0: 1, 0.1, 10.');
  await steps.wasm();
  await steps.package();
  const times = (count: number): string => String(Math.ceil(count * share));
  const env = {
    SOAK: 'printed',
    SOAK_CALLS: times(100_000),
    SOAK_CHANGES: times(20_000),
    SOAK_MODELS: times(10_000),
    SOAK_MODELS_IN_WORKERS: times(1000),
    SOAK_CALLS_IN_PAGES: times(10_000),
    SOAK_MODELS_IN_PAGES: times(1000),
    CHROMIUM: await findChromium(),
    HEADLESS_SHELL: (await findHeadlessShell()) ?? '',
  };
  const vitest = inProject('node_modules/vitest/vitest.mjs');
  const args = [
    vitest,
    'run',
    '--testTimeout',
    '100000000',
    'tests/web/soak.test.ts',
    'tests/web/browser/soak.test.ts',
  ];
  await step('Soaking', () => run(process.execPath, args, { cwd: inProject(), env, show: true }));
}

export const command: Command = (words) => reportErrors(() => soak(words));
