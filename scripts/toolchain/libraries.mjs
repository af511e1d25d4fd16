// The C++ libraries that clearformer needs as source: the system's when new enough, else those of a newer suite.
// What is not found here is fetched by CMake itself.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { haveApt, unpackPackages } from './apt.mjs';
import { cacheFolder, completeFolder } from './cache.mjs';
import { SetupError } from './progress.mjs';
import { atLeast, GOOGLETEST_MINIMUM, NEWER_SUITE, RAPIDJSON_MINIMUM, XSIMD_MINIMUM } from './versions.mjs';

const PREFIXES = ['/usr', '/usr/local', '/opt/homebrew'];

const LIBRARIES = [
  {
    name: 'xsimdInclude',
    package: 'libxsimd-dev',
    folder: 'include',
    versionFile: 'xsimd/config/xsimd_config.hpp',
    version: /XSIMD_VERSION_MAJOR (\d+)[\s\S]*?XSIMD_VERSION_MINOR (\d+)/,
    minimum: XSIMD_MINIMUM,
  },
  {
    name: 'rapidjsonInclude',
    package: 'rapidjson-dev',
    folder: 'include',
    versionFile: 'rapidjson/rapidjson.h',
    version: /RAPIDJSON_MAJOR_VERSION (\d+)[\s\S]*?RAPIDJSON_MINOR_VERSION (\d+)/,
    minimum: RAPIDJSON_MINIMUM,
  },
  {
    name: 'googletestSource',
    package: 'googletest',
    folder: 'src/googletest',
    versionFile: 'CMakeLists.txt',
    version: /GOOGLETEST_VERSION (\d+)\.(\d+)/,
    minimum: GOOGLETEST_MINIMUM,
  },
];

function lookIn(prefix, library) {
  const folder = join(prefix, library.folder);
  const file = join(folder, library.versionFile);
  if (!existsSync(file)) return undefined;
  const [, major, minor] = library.version.exec(readFileSync(file, 'utf8')) ?? [];
  return major && atLeast(`${major}.${minor}`, library.minimum) ? folder : undefined;
}

// A system's include folder must not be named to a compiler as it is: it would put the system's C headers before those of
// Emscripten, or out of their order. So the library's headers get a folder of their own, with a link to them.
function alone(folder, library) {
  if (library.folder !== 'include') return folder;
  const subfolder = library.versionFile.split('/')[0];
  const own = join(cacheFolder(), 'system-headers', library.package);
  mkdirSync(own, { recursive: true });
  rmSync(join(own, subfolder), { force: true });
  symlinkSync(join(folder, subfolder), join(own, subfolder));
  return own;
}

/** Resolves to { xsimdInclude, rapidjsonInclude, googletestSource }, each a folder or absent. */
export async function findLibraries() {
  const found = {};
  for (const library of LIBRARIES) {
    const folder = PREFIXES.map((prefix) => lookIn(prefix, library)).find(Boolean);
    if (folder) found[library.name] = alone(folder, library);
  }
  const missing = LIBRARIES.filter(({ name }) => !found[name]);
  if (missing.length === 0 || !(await haveApt())) return found;
  const root = join(cacheFolder(), `libraries-${NEWER_SUITE}`);
  const packages = LIBRARIES.map((library) => library.package);
  try {
    await completeFolder(root, packages.join(' '), (folder) =>
      unpackPackages(folder, NEWER_SUITE, packages, { closure: false }),
    );
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.log(`  not to be had as packages; CMake will fetch the sources:\n${error.message}`);
    return found;
  }
  for (const library of missing) {
    const folder = lookIn(join(root, 'usr'), library);
    if (folder) found[library.name] = folder;
  }
  return found;
}
