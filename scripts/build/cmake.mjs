// The C++: configures and builds one of CMake's presets (natively or as WebAssembly) in build/<preset>.
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { nodeFlags } from '../node_flags.mjs';
import { run, step } from '../toolchain/progress.mjs';
import { findBuildTools, findCppCompiler, findWasmTools } from '../toolchain.mjs';
import { digestOf, inProject, unlessFresh } from './fresh.mjs';

/** The WebAssembly build that the C++ tests run in: both programs, with and without relaxed SIMD. */
export const WASM_PRESET = 'wasm';
/** The same with threads is tested through the package. */
const THREADS_PRESET = 'wasm-threads';
const MODULE_PRESETS = [WASM_PRESET, THREADS_PRESET];

/** Every build of the module by its name: where it lies, without its extension. */
export const MODULES = Object.fromEntries(
  [
    ['simd128', WASM_PRESET],
    ['relaxed', WASM_PRESET],
    ['simd128-threads', THREADS_PRESET],
    ['relaxed-threads', THREADS_PRESET],
  ].map(([name, preset]) => [name, inProject('build', preset, `clearformer-${name}`)]),
);

let buildTools;
let wasmTools;

/** The tools, looked for once in a process. */
export const tools = {
  build: () => (buildTools ??= findBuildTools()),
  wasm: () => (wasmTools ??= findWasmTools()),
};

/** Looks for all of them, one after the other: each may fetch something into the cache. */
export async function findTools() {
  await tools.build();
  await tools.wasm();
}

async function settingsOf(preset) {
  const { cmakeArguments } = await tools.build();
  if (!MODULE_PRESETS.includes(preset)) {
    findCppCompiler(); // says how to get one, where CMake would fail with a riddle
    return { env: {}, cmakeArguments };
  }
  const { env, toolchainFile, version } = await tools.wasm();
  const own = {
    CMAKE_TOOLCHAIN_FILE: toolchainFile,
    CMAKE_CROSSCOMPILING_EMULATOR: process.execPath,
    CLEARFORMER_NODE_FLAGS: nodeFlags.join(';'),
  };
  const given = Object.entries(own).map(([name, value]) => `-D${name}=${value}`);
  return { env, cmakeArguments: [...cmakeArguments, ...given], version };
}

/** Configures `preset` unless that was done with the same settings; CMake itself sees to changes of CMakeLists.txt. */
async function configure(preset, folder, { env, cmakeArguments, version = '' }) {
  const { cmake } = await tools.build();
  const recipe = {
    stamp: `${folder}.configured`,
    digest: digestOf([inProject('CMakePresets.json')], [cmake, version, ...cmakeArguments].join('\n')),
    outputs: [`${folder}/build.ninja`],
  };
  await unlessFresh(recipe, () => {
    for (const old of ['CMakeCache.txt', 'CMakeFiles']) rmSync(join(folder, old), { recursive: true, force: true });
    const args = ['--preset', preset, ...cmakeArguments];
    return step(`Configuring ${preset}`, () => run(cmake, args, { cwd: inProject(), env, show: true }));
  });
}

/** Builds `preset`: the targets given or, without any, all of it. */
export async function buildPreset(preset, targets = []) {
  const { cmake } = await tools.build();
  const settings = await settingsOf(preset);
  const folder = inProject('build', preset);
  await configure(preset, folder, settings);
  const args = ['--build', folder, '-j', String(availableParallelism())];
  const selected = targets.length > 0 ? ['--target', ...targets] : [];
  const options = { cwd: inProject(), env: settings.env, show: true };
  await step(`Building ${preset}`, () => run(cmake, [...args, ...selected], options));
}

/** Builds every WebAssembly module, without tests. */
export async function buildWasm() {
  for (const preset of MODULE_PRESETS) await buildPreset(preset, ['clearformer_module']);
}

/** Runs the tests of a preset that has been built. */
export async function testPreset(preset) {
  const { ctest } = await tools.build();
  const args = ['--test-dir', inProject('build', preset), '--output-on-failure', '--no-tests=error'];
  await step(`Testing ${preset}`, () => run(ctest, [...args, '-j', String(availableParallelism())], { show: true }));
}
