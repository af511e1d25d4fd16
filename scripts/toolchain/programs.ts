// The programs that build the C++: CMake and Ninja (the system's if new enough, else those of a newer suite), and the
// machine's C++ compiler.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { haveApt, unpackPackages } from './apt.js';
import { cacheFolder, completeFolder } from './cache.js';
import { query, SetupError } from './progress.js';
import { relocate } from './relocate.js';
import { atLeast, cmakeMinimum, newerSuite, ninjaMinimum } from './versions.js';

/** The path of `name` on PATH, or undefined. */
export function onPath(name: string): string | undefined {
  const names = process.platform === 'win32' ? [`${name}.exe`, name] : [name];
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.flatMap((folder) => names.map((each) => join(folder, each))).find((file) => existsSync(file));
}

/** The path of `name` on PATH, if its version is at least `minimum`. */
export async function goodEnough(name: string, minimum: string): Promise<string | undefined> {
  const file = onPath(name);
  const version = file && /\d+(\.\d+)+/.exec(await query(file, ['--version']))?.[0];
  return version && atLeast(version, minimum) ? file : undefined;
}

export interface BuildPrograms {
  cmake: string;
  ctest: string;
  ninja: string;
}

export async function findBuildPrograms(): Promise<BuildPrograms> {
  const [cmake, ninja] = [await goodEnough('cmake', cmakeMinimum), await goodEnough('ninja', ninjaMinimum)];
  if (cmake && ninja) return { cmake, ctest: onPath('ctest') ?? 'ctest', ninja };
  if (!(await haveApt())) {
    const lacking = [!cmake && `CMake ${cmakeMinimum}`, !ninja && `Ninja ${ninjaMinimum}`]
      .filter(Boolean)
      .join(' and ');
    throw new SetupError(`${lacking} or newer is needed on PATH. Install it with the system's package manager.`);
  }
  const root = join(cacheFolder(), `cmake-${newerSuite}`);
  await completeFolder(root, `${newerSuite} 1`, async (temporary) => {
    await unpackPackages(temporary, newerSuite, ['cmake', 'ninja-build', 'patchelf'], { closure: true });
    const programs = /\/bin\/(cmake|ctest|ninja)$/;
    await relocate(temporary, root, { folders: ['usr/bin'], programs, libraries: /^$/ });
  });
  const program = (name: string): string => join(root, 'usr/bin', name);
  return { cmake: program('cmake'), ctest: program('ctest'), ninja: program('ninja') };
}

/** The machine's C++ compiler: CXX, or the first of the usual names on PATH. */
export function findCppCompiler(): string {
  const { CXX } = process.env;
  const compiler = CXX || ['c++', 'g++', 'clang++'].map(onPath).find(Boolean);
  if (compiler) return compiler;
  throw new SetupError(
    'A C++20 compiler is needed for the native library and its tests (g++ 12, clang 15, or newer), and none is on PATH.\n' +
      'On Debian and its children: apt-get install g++. Or set CXX to the compiler.',
  );
}
