// npm start: everything from a fresh clone to the page in the browser. The first run fetches tools and packages; later
// ones need no network and take seconds.
import { findTools } from './build/cmake.mjs';
import { inProject } from './build/fresh.mjs';
import { pageFolder } from './build/page.mjs';
import { steps } from './build.mjs';
import { main } from './main.mjs';
import { ensureModules } from './npm_modules.mjs';
import { seconds, timesOfSteps } from './toolchain/progress.mjs';

async function serve() {
  const { preview } = await import('vite'); // here, because it may not have been there before
  const server = await preview({
    root: inProject('web/demo'),
    build: { outDir: pageFolder },
    preview: { host: 'localhost' },
  });
  console.log(`\nclearformer is at ${server.resolvedUrls.local[0]}  (Ctrl-C ends it)`);
}

await main(import.meta, async () => {
  const start = Date.now();
  await Promise.all([ensureModules(), findTools()]);
  await steps.wasm();
  await steps.package();
  await steps.page();
  await serve();
  console.log(`\nWhat took how long (${seconds(start)} in all):\n${timesOfSteps() || 'nothing was to be done'}`);
});
