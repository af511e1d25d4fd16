// Everything that clearformer is built and tested with: found on the machine or provided in a cache outside the clone.
// As a program it provides all of it and says what it found; with --env it prints shell lines for working by hand:
//   eval "$(node scripts/toolchain.mjs --env)"
import { join } from 'node:path';

import { main } from './main.mjs';
import { cacheFolder } from './toolchain/cache.mjs';
import { findChromium } from './toolchain/chromium.mjs';
import { findEmscripten } from './toolchain/emscripten.mjs';
import { findLibraries } from './toolchain/libraries.mjs';
import { findBuildPrograms, findCppCompiler } from './toolchain/programs.mjs';
import { SetupError } from './toolchain/progress.mjs';

export { findChromium, findCppCompiler, SetupError };

/**
 * What both kinds of build need. Resolves to { cmake, ctest, ninja, cmakeArguments }; the arguments name the libraries
 * that were found; CMake fetches the others.
 */
export async function findBuildTools() {
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

/** What the WebAssembly build needs beside that: { emcc, root, version, origin, env, toolchainFile }. */
export async function findWasmTools() {
  const emscripten = await findEmscripten();
  const toolchainFile = join(emscripten.root, 'cmake/Modules/Platform/Emscripten.cmake');
  const env = { ...emscripten.env, EM_NODE_JS: process.execPath };
  return { ...emscripten, env, toolchainFile };
}

function shellLines(build, wasm) {
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

async function provide(options) {
  const env = options.includes('--env');
  if (env) console.log = console.error; // progress must not become part of the shell lines
  const build = await findBuildTools();
  const wasm = await findWasmTools();
  if (env) return process.stdout.write(shellLines(build, wasm));
  console.log(`cache: ${cacheFolder()}`);
  console.log(`emscripten: ${wasm.version} (${wasm.origin}) ${wasm.emcc}`);
  console.log(`compiler: ${findCppCompiler()}`);
  for (const name of ['cmake', 'ninja', 'xsimdInclude', 'rapidjsonInclude', 'googletestSource']) {
    console.log(`${name}: ${build[name] ?? 'not found: CMake fetches it'}`);
  }
  return console.log(`chromium: ${await findChromium()}`);
}

await main(import.meta, provide, ['--env']);
