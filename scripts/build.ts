// npm run build [-- step …]: builds the WebAssembly, the package in dist/ and the page. Steps:
// native (library and tests), wasm (the modules), package, page, docs (into the page's folder),
// onnxruntime (onnxruntime-web into the page's folder, for its chapter 12: 14 MB),
// licences (THIRD_PARTY_LICENSES, from the outputs of wasm and package).

import { buildPreset, buildWasm } from './build/cmake.js';
import { buildDocs } from './build/docs.js';
import { writeLicences } from './build/licences.js';
import { addOnnxruntime } from './build/onnxruntime.js';
import { buildPackage } from './build/package.js';
import { buildPage } from './build/page.js';
import { commandOf } from './main.js';

type StepName = 'native' | 'wasm' | 'package' | 'page' | 'docs' | 'onnxruntime' | 'licences';

export const steps: Readonly<Record<StepName, () => Promise<void>>> = {
  native: () => buildPreset('release'),
  wasm: buildWasm,
  package: buildPackage,
  page: buildPage,
  docs: buildDocs,
  onnxruntime: addOnnxruntime,
  licences: writeLicences,
};

const defaultSteps: readonly StepName[] = ['wasm', 'package', 'page', 'docs'];

export const command = commandOf(async (names) => {
  for (const name of names.length > 0 ? names : defaultSteps) await steps[name]();
}, Object.keys(steps) as StepName[]);
