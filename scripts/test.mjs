// npm test [-- stage …]: everything from a fresh clone to the verdict. All stages run, also after one has failed.
// Stages: native (C++), wasm (the same C++ tests as WebAssembly under Node), ts (the package under Node, with trained
// checkpoints that are fetched once), browser (the page in Chromium), check (formats, types, import directions, sizes).
import { buildPreset, testPreset, WASM_PRESET } from './build/cmake.mjs';
import { inProject } from './build/fresh.mjs';
import { steps } from './build.mjs';
import { check } from './check.mjs';
import { main } from './main.mjs';
import { fetchCheckpoints } from './models/checkpoints.mjs';
import { ensureModules } from './npm_modules.mjs';
import { run, seconds, step, timesOfSteps } from './toolchain/progress.mjs';
import { findChromium, SetupError } from './toolchain.mjs';

const vitest = (project, env = {}) =>
  step(`Testing ${project}`, () =>
    run(process.execPath, [inProject('node_modules/vitest/vitest.mjs'), 'run', '--project', project], {
      cwd: inProject(),
      env: { ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }), ...env },
      show: true,
    }),
  );

const stages = {
  native: async () => {
    await steps.native();
    await testPreset('release');
  },
  wasm: async () => {
    await buildPreset(WASM_PRESET);
    await testPreset(WASM_PRESET);
  },
  ts: async () => {
    await buildPackage();
    await fetchCheckpoints();
    await vitest('ts');
  },
  browser: async () => {
    await buildPackage();
    await steps.page();
    await vitest('browser', { CHROMIUM: await findChromium() });
  },
  check: async () => {
    await buildPackage();
    await check();
  },
};

async function buildPackage() {
  await ensureModules();
  await steps.wasm();
  await steps.package();
}

async function runStage(name) {
  const start = Date.now();
  console.log(`\n=== ${name}`);
  try {
    await stages[name]();
    return { name, passed: true, time: seconds(start) };
  } catch (error) {
    console.error(error instanceof SetupError ? error.message : error);
    return { name, passed: false, time: seconds(start) };
  }
}

await main(
  import.meta,
  async (names) => {
    const start = Date.now();
    const results = [];
    for (const name of names.length > 0 ? names : Object.keys(stages)) results.push(await runStage(name));
    console.log(`\n=== Summary (${seconds(start)})`);
    for (const { name, passed, time } of results)
      console.log(`${passed ? 'passed' : 'FAILED'}  ${name.padEnd(8)} ${time}`);
    console.log(`\nWhat took how long:\n${timesOfSteps()}\n`);
    const failed = results.filter(({ passed }) => !passed).length;
    console.log(`stages: ${results.length - failed} passed, ${failed} failed`);
    if (failed > 0) process.exitCode = 1;
  },
  Object.keys(stages),
);
