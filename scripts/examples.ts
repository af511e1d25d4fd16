// npm run examples [-- name …]: tests the projects of web/examples that install from the registry, each with the packed
// package, following its README. Those that install nothing else are part of npm test.

import { inProject } from './build/fresh.js';
import { steps } from './build.js';
import { type Command, reportErrors } from './main.js';
import { run } from './toolchain/progress.js';
import { findChromium } from './toolchain.js';

async function examples(names: readonly string[]): Promise<void> {
  await steps.wasm();
  await steps.package();
  await run(process.execPath, [inProject('node_modules/vitest/vitest.mjs'), 'run', '--project', 'examples', ...names], {
    cwd: inProject(),
    env: { CHROMIUM: await findChromium() },
    show: true,
  });
}

export const command: Command = (names) => reportErrors(() => examples(names));
