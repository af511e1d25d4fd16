// Configures and builds one of CMake's presets (native or WebAssembly) in build/<preset>.

import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { nodeFlags } from '../node_flags.js';
import { type Environment, run, step } from '../toolchain/progress.js';
import {
  type BuildTools,
  type CompilerCache,
  findBuildTools,
  findCompilerCache,
  findCppCompiler,
  findWasmTools,
  type WasmTools,
} from '../toolchain.js';
import { digestOf, inProject, unlessFresh } from './fresh.js';
import { splitModules } from './split.js';

/** The WebAssembly preset: the modules, with and without relaxed SIMD, and the C++ tests. */
export const wasmPreset = 'wasm';
/** The same C++ tests with sanitizers. */
export const wasmSanitizedPreset = 'wasm-asan';
/** The build folder of the modules. */
export const wasmFolder = inProject('build', wasmPreset);

/** Every build of the module by name: its path without extension. */
export const modules = {
  simd128: join(wasmFolder, 'clearformer-simd128'),
  relaxed: join(wasmFolder, 'clearformer-relaxed'),
};

export type ModuleName = keyof typeof modules;

let buildTools: Promise<BuildTools> | undefined;
let wasmTools: Promise<WasmTools> | undefined;
let compilerCache: Promise<CompilerCache | undefined> | undefined;

/** The tools, looked up once per process. */
export const tools = {
  build: (): Promise<BuildTools> => (buildTools ??= findBuildTools()),
  wasm: (): Promise<WasmTools> => (wasmTools ??= findWasmTools()),
  cache: (): Promise<CompilerCache | undefined> => (compilerCache ??= findCompilerCache(inProject())),
};

/** Looks up all of them, one after the other: each may download something into the cache. */
export async function findTools(): Promise<void> {
  await tools.build();
  await tools.cache();
  await tools.wasm();
}

interface Settings {
  env: Environment;
  cmakeArguments: readonly string[];
  /** The compiler's version, whose change CMake would not notice. */
  version?: string;
}

async function settingsOf(preset: string): Promise<Settings> {
  const build = await tools.build();
  const cache = await tools.cache();
  const launcher = cache ? [`-DCMAKE_CXX_COMPILER_LAUNCHER=${cache.launcher}`] : [];
  const cmakeArguments = [...build.cmakeArguments, ...launcher];
  if (preset !== wasmPreset && preset !== wasmSanitizedPreset) {
    findCppCompiler(); // its error says how to get one, CMake's would not
    return { env: { ...cache?.env }, cmakeArguments };
  }
  const { env, toolchainFile, version } = await tools.wasm();
  const own = {
    CMAKE_TOOLCHAIN_FILE: toolchainFile,
    CMAKE_CROSSCOMPILING_EMULATOR: process.execPath,
    CLEARFORMER_NODE_FLAGS: nodeFlags.join(';'),
    CMAKE_CXX_LINKER_LAUNCHER: [process.execPath, inProject('scripts/run.mjs'), 'link'].join(';'),
  };
  const given = Object.entries(own).map(([name, value]) => `-D${name}=${value}`);
  // Not told by the name of em++.
  const kind = cache ? { ...cache.env, CCACHE_COMPILERTYPE: 'clang' } : {};
  return { env: { ...env, ...kind }, cmakeArguments: [...cmakeArguments, ...given], version };
}

/** Configures `preset` without building it; returns its build folder. */
export async function configurePreset(preset: string): Promise<string> {
  return configure(preset, await settingsOf(preset));
}

/** Configures unless that was done here with the same settings; CMake itself notices changes of CMakeLists.txt. */
async function configure(preset: string, settings: Settings): Promise<string> {
  const folder = inProject('build', preset);
  const { env, cmakeArguments, version = '' } = settings;
  const { cmake } = await tools.build();
  const recipe = {
    stamp: `${folder}.configured`,
    // With the folder: a clone that was moved or copied would build and test what is in its old place.
    digest: digestOf([inProject('CMakePresets.json')], [cmake, version, folder, ...cmakeArguments].join('\n')),
    outputs: [`${folder}/build.ninja`],
  };
  await unlessFresh(recipe, () => {
    for (const old of ['CMakeCache.txt', 'CMakeFiles']) rmSync(join(folder, old), { recursive: true, force: true });
    const args = ['--preset', preset, ...cmakeArguments];
    return step(`Configuring ${preset}`, () => run(cmake, args, { cwd: inProject(), env, show: true }));
  });
  return folder;
}

/** Builds `preset`: the given targets, or all of it. */
export async function buildPreset(preset: string, targets: readonly string[] = []): Promise<void> {
  const { cmake } = await tools.build();
  const settings = await settingsOf(preset);
  const folder = await configure(preset, settings);
  const args = ['--build', folder, '-j', String(availableParallelism())];
  const selected = targets.length > 0 ? ['--target', ...targets] : [];
  const options = { cwd: inProject(), env: settings.env, show: true };
  await step(`Building ${preset}`, () => run(cmake, [...args, ...selected], options));
}

/** Builds every WebAssembly module, each as two files, without tests. */
export async function buildWasm(): Promise<void> {
  await buildPreset(wasmPreset, ['clearformer_module']);
  await splitModules(Object.values(modules), await tools.wasm());
}

/** Runs the tests of a built preset, with more variables in their environment; users' programs are compiled through the cache. */
export async function testPreset(preset: string, more: Environment = {}): Promise<void> {
  const { ctest } = await tools.build();
  const cache = await tools.cache();
  const env = { ...(cache && { ...cache.env, CMAKE_CXX_COMPILER_LAUNCHER: cache.launcher }), ...more };
  const args = ['--test-dir', inProject('build', preset), '--output-on-failure', '--no-tests=error'];
  const parallel = ['-j', String(availableParallelism())];
  await step(`Testing ${preset}`, () => run(ctest, [...args, ...parallel], { env, show: true }));
}
