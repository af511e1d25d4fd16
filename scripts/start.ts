// npm start: from a fresh clone to the page in the browser. The first run downloads tools and packages; later
// ones need no network and take seconds.

import { findTools } from './build/cmake.js';
import { inProject } from './build/fresh.js';
import { pageFolder } from './build/page.js';
import { steps } from './build.js';
import { commandOf } from './main.js';
import { seconds, timesOfSteps } from './toolchain/progress.js';

async function serve(): Promise<void> {
  const { preview } = await import('vite');
  const server = await preview({
    root: inProject('web/demo'),
    build: { outDir: pageFolder },
    preview: { host: 'localhost' },
  });
  console.log(`\nclearformer is at ${server.resolvedUrls?.local[0]}  (Ctrl-C ends it)`);
}

export const command = commandOf(async () => {
  const start = Date.now() - 1000 * process.uptime(); // includes the installation of npm's packages
  await findTools();
  await steps.wasm();
  await steps.package();
  await steps.page();
  await serve();
  console.log(`\nWhat took how long (${seconds(start)} in all):\n${timesOfSteps() || 'nothing was to be done'}`);
});
