// npm run build [-- step …]: makes the WebAssembly, the package in dist/ and the page. Steps by themselves:
// native (library, command line and tests), wasm (the module, both variants), package, page.
import { buildPreset, buildWasm } from './build/cmake.mjs';
import { buildPackage } from './build/package.mjs';
import { buildPage } from './build/page.mjs';
import { main } from './main.mjs';
import { ensureModules } from './npm_modules.mjs';

export const steps = {
  native: () => buildPreset('release'),
  wasm: buildWasm,
  package: async () => {
    await ensureModules();
    await buildPackage();
  },
  page: async () => {
    await ensureModules();
    await buildPage();
  },
};

const DEFAULT_STEPS = ['wasm', 'package', 'page'];

await main(
  import.meta,
  async (names) => {
    for (const name of names.length > 0 ? names : DEFAULT_STEPS) await steps[name]();
  },
  Object.keys(steps),
);
