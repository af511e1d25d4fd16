// The npm packages of package-lock.json, installed once for each state of that file. Needs no network when it is unchanged.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

import { digestOf, inProject } from './build/fresh.mjs';
import { run, SetupError, step } from './toolchain/progress.mjs';

const stamp = inProject('node_modules/.clearformer-lock');
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** Runs `npm ci` if node_modules is missing or was made from another lock file, platform or Node. */
export async function ensureModules() {
  const platform = `${process.platform} ${process.arch}`;
  const digest = digestOf([inProject('package.json'), inProject('package-lock.json')], platform);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  const args = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  try {
    await step('Installing the npm packages (npm ci)', () => run(npm, args, { cwd: inProject() }));
  } catch (error) {
    const advice = 'The packages of package-lock.json are needed once; later runs need no network.';
    throw new SetupError(`${error.message}\n${advice}`);
  }
  writeFileSync(stamp, digest);
}
