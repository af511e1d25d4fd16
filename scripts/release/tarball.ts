// The tarball to be published, in build/release_tarball, and a check that its types resolve like its files.

import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { inProject } from '../build/fresh.js';
import { installPackagesOf } from '../build/own_packages.js';
import { pack } from '../check/packed.js';
import { run, SetupError } from '../toolchain/progress.js';

const home = 'scripts/release';
const folder = inProject('build/release_tarball');

export async function packForRelease(): ReturnType<typeof pack> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return pack(folder);
}

/**
 * Runs attw ("are the types wrong?") on the tarball. The disabled rule concerns require() of ES modules, which Node supports from
 * 20.19 and 22.12 on.
 */
export async function checkTypesResolve(): Promise<string> {
  await installPackagesOf(home);
  await packForRelease();
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  const attw = inProject(home, 'node_modules/@arethetypeswrong/cli/dist/index.js');
  const args = [attw, join(folder, tarball), '--ignore-rules', 'cjs-resolves-to-esm'];
  const { code, output } = await run(process.execPath, [...args, '--no-color', '--no-emoji', '--format', 'ascii'], {
    cwd: inProject(),
    check: false,
  });
  if (code !== 0) throw new SetupError(output);
  return tarball;
}
