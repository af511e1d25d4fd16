// The C++ libraries that clearformer needs as source: the system's if new enough, else those of a newer suite.
// CMake fetches those that are not found here.

import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { haveApt, unpackPackages } from './apt.js';
import { cacheFolder, completeFolder } from './cache.js';
import { SetupError } from './progress.js';
import { atLeast, googletestMinimum, newerSuite, rapidjsonMinimum, xsimdMinimum } from './versions.js';

const prefixes = ['/usr', '/usr/local', '/opt/homebrew'];

export type LibraryName = 'xsimdInclude' | 'rapidjsonInclude' | 'googletestSource';
/** Folders of the libraries found. */
export type Libraries = Partial<Record<LibraryName, string>>;

interface Library {
  name: LibraryName;
  /** Debian's. */
  package: string;
  /** The header folder under a prefix. */
  folder: string;
  versionFile: string;
  /** Its groups are the major and the minor version. */
  version: RegExp;
  minimum: string;
}

const libraries: readonly Library[] = [
  {
    name: 'xsimdInclude',
    package: 'libxsimd-dev',
    folder: 'include',
    versionFile: 'xsimd/config/xsimd_config.hpp',
    version: /XSIMD_VERSION_MAJOR (\d+)[\s\S]*?XSIMD_VERSION_MINOR (\d+)/,
    minimum: xsimdMinimum,
  },
  {
    name: 'rapidjsonInclude',
    package: 'rapidjson-dev',
    folder: 'include',
    versionFile: 'rapidjson/rapidjson.h',
    version: /RAPIDJSON_MAJOR_VERSION (\d+)[\s\S]*?RAPIDJSON_MINOR_VERSION (\d+)/,
    minimum: rapidjsonMinimum,
  },
  {
    name: 'googletestSource',
    package: 'googletest',
    folder: 'src/googletest',
    versionFile: 'CMakeLists.txt',
    version: /GOOGLETEST_VERSION (\d+)\.(\d+)/,
    minimum: googletestMinimum,
  },
];

function lookIn(prefix: string, library: Library): string | undefined {
  const folder = join(prefix, library.folder);
  const file = join(folder, library.versionFile);
  if (!existsSync(file)) return undefined;
  const [, major, minor] = library.version.exec(readFileSync(file, 'utf8')) ?? [];
  return major && atLeast(`${major}.${minor}`, library.minimum) ? folder : undefined;
}

// A system's include folder must not be passed to a compiler itself: the system's C headers would precede those of
// Emscripten, or change their order. So the library's headers get a separate folder with a link to them.
function alone(folder: string, library: Library): string {
  if (library.folder !== 'include') return folder;
  const subfolder = library.versionFile.split('/')[0] ?? '';
  const own = join(cacheFolder(), 'system-headers', library.package);
  mkdirSync(own, { recursive: true });
  rmSync(join(own, subfolder), { force: true });
  symlinkSync(join(folder, subfolder), join(own, subfolder));
  return own;
}

export async function findLibraries(): Promise<Libraries> {
  const found: Libraries = {};
  for (const library of libraries) {
    const folder = prefixes.map((prefix) => lookIn(prefix, library)).find(Boolean);
    if (folder) found[library.name] = alone(folder, library);
  }
  const missing = libraries.filter(({ name }) => !found[name]);
  if (missing.length === 0 || !(await haveApt())) return found;
  const root = join(cacheFolder(), `libraries-${newerSuite}`);
  const packages = libraries.map((library) => library.package);
  try {
    await completeFolder(root, packages.join(' '), (folder) =>
      unpackPackages(folder, newerSuite, packages, { closure: false }),
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
