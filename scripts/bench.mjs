// npm run bench: builds and runs the programs of tests/bench, natively and under Node: those in C++ as the release build and
// in both WASM builds, those in JavaScript (*.mjs) with the package in dist/.
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { extname } from 'node:path';

import { buildPreset, tools, WASM_PRESETS } from './build/cmake.mjs';
import { inProject } from './build/fresh.mjs';
import { steps } from './build.mjs';
import { main } from './main.mjs';
import { nodeFlags } from './node_flags.mjs';
import { run, step } from './toolchain/progress.mjs';
import { SetupError } from './toolchain.mjs';

const BENCH = 'tests/bench';

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return extname(file) === '';
  } catch {
    return false;
  }
}

// The bench programs are no part of a usual build: the setting stays in the preset's folder from here on.
async function buildBench(preset) {
  await buildPreset(preset, preset === 'release' ? ['clearformer'] : ['clearformer_module']);
  const { cmake } = await tools.build();
  const { env } = WASM_PRESETS.includes(preset) ? await tools.wasm() : {};
  await run(cmake, [inProject('build', preset), '-DCLEARFORMER_BUILD_BENCH=ON'], { env });
  await buildPreset(preset);
  const folder = inProject('build', preset, BENCH);
  const names = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  return names.filter((entry) => entry.isFile()).map((entry) => inProject('build', preset, BENCH, entry.name));
}

const node = (file) => run(process.execPath, [...nodeFlags, file], { cwd: inProject(), show: true });

async function cppBenches() {
  for (const file of (await buildBench('release')).filter(isProgram)) {
    await step(file, () => run(file, [], { cwd: inProject(), show: true }));
  }
  for (const preset of WASM_PRESETS) {
    const scripts = (await buildBench(preset)).filter((file) => ['.js', '.cjs'].includes(extname(file)));
    for (const file of scripts) await step(file, () => node(file));
  }
}

await main(import.meta, async () => {
  const names = existsSync(inProject(BENCH)) ? readdirSync(inProject(BENCH)) : [];
  const scripts = names.filter((name) => name.endsWith('.mjs'));
  if (names.length === 0) throw new SetupError(`There is no program in ${BENCH} yet.`);
  if (names.includes('CMakeLists.txt')) await cppBenches();
  if (scripts.length > 0) {
    await steps.wasm();
    await steps.package();
  }
  for (const name of scripts) await step(name, () => node(inProject(BENCH, name)));
});
