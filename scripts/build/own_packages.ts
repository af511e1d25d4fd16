// Packages needed by a single command have a package.json of their own and are installed when that command runs.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';

import { run, step } from '../toolchain/progress.js';
import { digestOf, inProject } from './fresh.js';

/** `npm ci` in `folder`, without install scripts, unless its lock file is installed already. */
export async function installPackagesOf(folder: string): Promise<void> {
  const stamp = inProject(folder, 'node_modules/.clearformer-lock');
  const digest = digestOf([inProject(folder, 'package-lock.json')], `${process.platform} ${process.arch}`);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  const args = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await step(`Installing packages (npm ci in ${folder})`, () => run('npm', args, { cwd: inProject(folder) }));
  writeFileSync(stamp, digest);
}
