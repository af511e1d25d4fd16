// npm run build [-- step …]: makes the WebAssembly, the package in dist/ and the page. Steps by themselves:
// native (library, command line and tests), wasm (the module, both variants), package, page, docs (into the page's folder),
// licences (THIRD_PARTY_LICENSES, of what wasm and package made).

import { buildPreset, buildWasm } from './build/cmake.js';
import { buildDocs } from './build/docs.js';
import { writeLicences } from './build/licences.js';
import { buildPackage } from './build/package.js';
import { buildPage } from './build/page.js';
import { commandOf } from './main.js';

type StepName = 'native' | 'wasm' | 'package' | 'page' | 'docs' | 'licences';

export const steps: Readonly<Record<StepName, () => Promise<void>>> = {
  native: () => buildPreset('release'),
  wasm: buildWasm,
  package: buildPackage,
  page: buildPage,
  docs: buildDocs,
  licences: writeLicences,
};

const defaultSteps: readonly StepName[] = ['wasm', 'package', 'page', 'docs'];

export const command = commandOf(async (names) => {
  for (const name of names.length > 0 ? names : defaultSteps) await steps[name]();
}, Object.keys(steps) as StepName[]);
