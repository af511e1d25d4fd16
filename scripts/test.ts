// npm test [-- stage …]: from a fresh clone to the verdict. All stages run, even after one has failed.
// Stages: native (C++), wasm (the same C++ tests as WebAssembly under Node), ts (the package under Node, with trained
// checkpoints that are downloaded once), browser (the page in Chromium and Firefox), check (formats, types, import
// directions, sizes).
// Only by name: aarch64 (C++ cross-compiled, under qemu-user), which needs a cross-compiler and an emulator; asan, tsan
// (the C++ tests with sanitizers, by the machine's compiler), asan-clang, tsan-clang, wasm-asan.

import { buildPreset, testPreset, wasmPreset, wasmSanitizedPreset } from './build/cmake.js';
import { inProject } from './build/fresh.js';
import { steps } from './build.js';
import { check } from './check.js';
import { commandOf } from './main.js';
import { fetchCheckpoints } from './models/checkpoints.js';
import { type Environment, run, seconds, step, timesOfSteps } from './toolchain/progress.js';
import { findAarch64, findChromium, findFirefox, findHeadlessShell, SetupError } from './toolchain.js';

const vitest = (project: string, env: Environment = {}): Promise<unknown> =>
  step(`Testing ${project}`, () =>
    run(process.execPath, [inProject('node_modules/vitest/vitest.mjs'), 'run', '--project', project], {
      cwd: inProject(),
      env: { ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }), ...env },
      show: true,
    }),
  );

const sanitizers = ['asan', 'asan-clang', 'tsan', 'tsan-clang', wasmSanitizedPreset] as const;
type Sanitizer = (typeof sanitizers)[number];
type StageName = 'native' | 'wasm' | 'ts' | 'browser' | 'check' | 'aarch64' | Sanitizer;

const sanitize = (preset: Sanitizer) => async (): Promise<void> => {
  await buildPreset(preset);
  await testPreset(preset);
};

const stages: Readonly<Record<StageName, () => Promise<void>>> = {
  native: async () => {
    await steps.native();
    await testPreset('release');
  },
  wasm: async () => {
    await buildPreset(wasmPreset);
    await testPreset(wasmPreset);
  },
  ts: async () => {
    await buildPackage();
    await fetchCheckpoints();
    await vitest('ts');
  },
  browser: async () => {
    await buildPackage();
    await steps.page();
    const environment = {
      CHROMIUM: await findChromium(),
      HEADLESS_SHELL: (await findHeadlessShell()) ?? '',
      FIREFOX: (await findFirefox()) ?? '',
    };
    await vitest('browser', environment);
  },
  check: async () => {
    await buildPackage();
    await check();
  },
  aarch64: async () => {
    await findAarch64();
    await buildPreset('aarch64');
    await testPreset('aarch64');
  },
  asan: sanitize('asan'),
  'asan-clang': sanitize('asan-clang'),
  tsan: sanitize('tsan'),
  'tsan-clang': sanitize('tsan-clang'),
  [wasmSanitizedPreset]: sanitize(wasmSanitizedPreset),
};

async function buildPackage(): Promise<void> {
  await steps.wasm();
  await steps.package();
}

interface Verdict {
  name: StageName;
  passed: boolean;
  time: string;
}

async function runStage(name: StageName): Promise<Verdict> {
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

const stageNames = Object.keys(stages) as StageName[];
const usual: readonly StageName[] = ['native', 'wasm', 'ts', 'browser', 'check'];

export const command = commandOf(async (names) => {
  const start = Date.now();
  const results: Verdict[] = [];
  for (const name of names.length > 0 ? names : usual) results.push(await runStage(name));
  console.log(`\n=== Summary (${seconds(start)})`);
  for (const { name, passed, time } of results)
    console.log(`${passed ? 'passed' : 'FAILED'}  ${name.padEnd(8)} ${time}`);
  console.log(`\nWhat took how long:\n${timesOfSteps()}\n`);
  const failed = results.filter(({ passed }) => !passed).length;
  console.log(`stages: ${results.length - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}, stageNames);
