// The version number must be the same wherever it is stated.

import { existsSync, readFileSync } from 'node:fs';

import { wasmFolder } from '../build/cmake.js';
import { inProject } from '../build/fresh.js';
import { packageJson } from '../check/metadata.js';
import { SetupError } from '../toolchain/progress.js';

interface Entry {
  version: string;
  /** "2026-11-22", or "unreleased". */
  date: string;
}

/** The first heading of CHANGELOG.md that begins with a number. */
function topEntry(): Entry {
  const [, version, date = ''] =
    /^## (\d\S*?)(?:, (.*))?$/m.exec(readFileSync(inProject('CHANGELOG.md'), 'utf8')) ?? [];
  if (!version) throw new SetupError('CHANGELOG.md has no entry "## <version>, <date>".');
  return { version, date };
}

/** The project's version when CMake was last configured. */
function cmakeVersion(): string {
  const file = `${wasmFolder}/CMakeCache.txt`;
  if (!existsSync(file)) throw new SetupError('CMake has not been configured: run "npm run build -- wasm" first.');
  return /^CMAKE_PROJECT_VERSION:STATIC=(.*)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 'none';
}

/** Refuses version numbers that differ from package.json's. */
export function checkVersion(): string {
  const { version } = packageJson();
  const lock = JSON.parse(readFileSync(inProject('package-lock.json'), 'utf8'));
  const stated: Record<string, string> = {
    'package-lock.json': String(lock.version),
    'package-lock.json, packages': String(lock.packages?.['']?.version),
    'CHANGELOG.md': topEntry().version,
    CMake: cmakeVersion(),
  };
  const faults = Object.entries(stated).filter(([, each]) => each !== version);
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) faults.push(['package.json (no semantic version)', version]);
  if (faults.length > 0) {
    const list = faults.map(([place, each]) => `${place} states ${each}`);
    throw new SetupError(`package.json states the version ${version}, but ${list.join('; ')}`);
  }
  return version;
}

/** Rejects a top entry of CHANGELOG.md without the date of the release. */
export function checkDate(): string {
  const { version, date } = topEntry();
  if (!/^\d{4}-\d\d-\d\d$/.test(date))
    throw new SetupError(`CHANGELOG.md: "## ${version}, ${date}" must state the day of the release, as 2026-01-31.`);
  return `${version} of ${date}`;
}
