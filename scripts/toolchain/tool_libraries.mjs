// The libraries of the native command line, CLI11 and ICU: the system's when new enough, else packages of the machine's own
// suite, which fit its C library. Where they can't be had the command line is left out, and CMake says so.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { haveApt, ownSuite, unpackPackages } from './apt.mjs';
import { cacheFolder, completeFolder } from './cache.mjs';
import { SetupError } from './progress.mjs';
import { atLeast, CLI11_MINIMUM, ICU_MINIMUM } from './versions.mjs';

const PREFIXES = ['/usr', '/usr/local', '/opt/homebrew'];

// What is named to CMake is the prefix or a folder in it.
const LIBRARIES = [
  {
    name: 'cli11Include',
    package: 'libcli11-dev',
    folder: 'include',
    needs: ['CLI/CLI.hpp'],
    versionFile: 'CLI/Version.hpp',
    version: /CLI11_VERSION_MAJOR (\d+)[\s\S]*?CLI11_VERSION_MINOR (\d+)/,
    minimum: CLI11_MINIMUM,
  },
  {
    name: 'icuRoot',
    package: 'libicu-dev', // with the static libraries, so that a program needs no private folder when it runs
    folder: '',
    needs: ['unicode/regex.h', 'unicode/brkiter.h'],
    versionFile: 'unicode/uvernum.h',
    version: /U_ICU_VERSION_MAJOR_NUM (\d+)[\s\S]*?U_ICU_VERSION_MINOR_NUM (\d+)/,
    minimum: ICU_MINIMUM,
  },
];

function lookIn(prefix, library) {
  const headers = join(prefix, 'include');
  const files = [library.versionFile, ...library.needs].map((file) => join(headers, file));
  if (!files.every((file) => existsSync(file))) return undefined;
  const [, major, minor] = library.version.exec(readFileSync(files[0], 'utf8')) ?? [];
  return major && atLeast(`${major}.${minor}`, library.minimum) ? join(prefix, library.folder) : undefined;
}

// Each has a folder of its own: one include folder for both would put these headers before the system's.
async function unpacked(library) {
  const root = join(cacheFolder(), `${library.package}-${ownSuite()}`);
  try {
    await completeFolder(root, library.package, (folder) =>
      unpackPackages(folder, ownSuite(), [library.package], { closure: false }),
    );
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.log(`  not to be had as a package; the command line will be left out:\n${error.message}`);
    return undefined;
  }
  return lookIn(join(root, 'usr'), library);
}

/** Resolves to { cli11Include, icuRoot }, each a folder or absent. */
export async function findToolLibraries() {
  const mayUnpack = ownSuite() !== '' && (await haveApt());
  const found = {};
  for (const library of LIBRARIES) {
    const folder = PREFIXES.map((prefix) => lookIn(prefix, library)).find(Boolean);
    found[library.name] = folder ?? (mayUnpack ? await unpacked(library) : undefined);
  }
  return found;
}
