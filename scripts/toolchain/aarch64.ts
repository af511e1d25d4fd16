// The tools for aarch64 tests on another machine: a cross-compiler and a user-mode emulator, installed by apt when
// running as root.

import { installPackages } from './apt.js';
import { onPath } from './programs.js';
import { SetupError } from './progress.js';

const programs = ['aarch64-linux-gnu-g++', 'qemu-aarch64'];
const packages = ['g++-aarch64-linux-gnu', 'qemu-user'];

const missing = (): string[] => programs.filter((name) => !onPath(name));

/** Throws, saying what to do, if there are none. The preset `aarch64` names the programs. */
export async function findAarch64(): Promise<void> {
  if (missing().length > 0) await installPackages('a compiler and an emulator for aarch64', packages);
  if (missing().length === 0) return;
  throw new SetupError(
    `The tests for aarch64 need ${missing().join(' and ')} on PATH.\n` +
      `On Debian and its children: apt-get install ${packages.join(' ')}`,
  );
}
