// Everything that building and testing clearformer needs: found on the machine or installed in a cache outside the
// clone. As a command it provides all of it and prints what it found; with --env it prints shell lines for manual use:
//   eval "$(node scripts/run.mjs toolchain --env)"

import { join } from 'node:path';

import { commandOf } from './main.js';
import { findAarch64 } from './toolchain/aarch64.js';
import { cacheFolder } from './toolchain/cache.js';
import { findChromium, findHeadlessShell } from './toolchain/chromium.js';
import { type CompilerCache, findCompilerCache } from './toolchain/compiler_cache.js';
import { type Emscripten, findEmscripten } from './toolchain/emscripten.js';
import { findFirefox } from './toolchain/firefox.js';
import { findLibraries, type Libraries } from './toolchain/libraries.js';
import { type BuildPrograms, findBuildPrograms, findCppCompiler } from './toolchain/programs.js';
import { SetupError } from './toolchain/progress.js';

export type { CompilerCache };
export { findAarch64, findChromium, findCompilerCache, findCppCompiler, findFirefox, findHeadlessShell, SetupError };

export interface BuildTools extends BuildPrograms, Libraries {
  cmakeArguments: readonly string[];
}

export interface WasmTools extends Emscripten {
  toolchainFile: string;
}

/**
 * The tools of both kinds of build; the arguments point CMake to the libraries
 * that were found; it fetches the others.
 */
export async function findBuildTools(): Promise<BuildTools> {
  const programs = await findBuildPrograms();
  const libraries = await findLibraries();
  const variables = {
    CMAKE_MAKE_PROGRAM: programs.ninja,
    CLEARFORMER_XSIMD_INCLUDE: libraries.xsimdInclude,
    CLEARFORMER_RAPIDJSON_INCLUDE: libraries.rapidjsonInclude,
    CLEARFORMER_GOOGLETEST_SOURCE: libraries.googletestSource,
  };
  const given = Object.entries(variables).filter(([, value]) => value);
  return { ...programs, ...libraries, cmakeArguments: given.map(([name, value]) => `-D${name}=${value}`) };
}

/** The additional tools of the WebAssembly build. */
export async function findWasmTools(): Promise<WasmTools> {
  const emscripten = await findEmscripten();
  const toolchainFile = join(emscripten.root, 'cmake/Modules/Platform/Emscripten.cmake');
  const env = { ...emscripten.env, EM_NODE_JS: process.execPath };
  return { ...emscripten, env, toolchainFile };
}

function shellLines(build: BuildTools, wasm: WasmTools): string {
  const { PATH: _, ...variables } = wasm.env;
  const lines = {
    ...variables,
    PATH: `${wasm.root}:$PATH`,
    EMSCRIPTEN_TOOLCHAIN_FILE: wasm.toolchainFile,
    XSIMD_INCLUDE: build.xsimdInclude,
    RAPIDJSON_INCLUDE: build.rapidjsonInclude,
    GOOGLETEST_SOURCE: build.googletestSource,
    CMAKE: build.cmake,
    NINJA: build.ninja,
  };
  const given = Object.entries(lines).filter(([, value]) => value);
  return given.map(([name, value]) => `export ${name}="${value}"\n`).join('');
}

async function provide(options: readonly string[]): Promise<void> {
  const env = options.includes('--env');
  if (env) console.log = console.error; // progress must not become part of the shell lines
  const build = await findBuildTools();
  const wasm = await findWasmTools();
  if (env) {
    process.stdout.write(shellLines(build, wasm));
    return;
  }
  console.log(`cache: ${cacheFolder()}`);
  console.log(`emscripten: ${wasm.version} (${wasm.origin}) ${wasm.emcc}`);
  console.log(`compiler: ${findCppCompiler()}`);
  for (const name of ['cmake', 'ninja', 'xsimdInclude', 'rapidjsonInclude', 'googletestSource'] as const) {
    console.log(`${name}: ${build[name] ?? 'not found: CMake fetches it'}`);
  }
  console.log(`chromium: ${await findChromium()}`);
  console.log(`headless_shell: ${(await findHeadlessShell()) ?? 'none: the whole Chromium runs the tests'}`);
  console.log(`firefox: ${(await findFirefox()) ?? 'none: the page is tested in Chromium alone'}`);
}

export const command = commandOf(provide, ['--env']);
