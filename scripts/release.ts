// npm run release [-- --dry-run [check …]]: runs every check that a release must pass, then tags it. Publishing is done
// by .github/workflows/release.yml, which a pushed tag starts. With --dry-run nothing is tagged, what only the release
// itself needs is reported but not required, and single checks can be selected by name.

import { inProject } from './build/fresh.js';
import { steps } from './build.js';
import { checkExports } from './check/exports.js';
import { checkLicences } from './check/licences.js';
import { checkLinks } from './check/links.js';
import { checkAddresses, checkMetadata, packageJson } from './check/metadata.js';
import { checkPacked } from './check/packed.js';
import { check } from './check.js';
import { commandOf } from './main.js';
import { messageOf } from './message_of.js';
import { checkWholeConsumer } from './release/consumer.js';
import { checkTypesResolve, packForRelease } from './release/tarball.js';
import { checkTree, tagRelease } from './release/tree.js';
import { checkDate, checkVersion } from './release/version.js';
import { run, SetupError, seconds } from './toolchain/progress.js';

async function runCommand(...words: readonly string[]): Promise<string> {
  await run(process.execPath, [inProject('scripts/run.mjs'), ...words], { cwd: inProject(), show: true });
  return '';
}

async function build(): Promise<string> {
  for (const name of ['wasm', 'package', 'page'] as const) await steps[name]();
  return '';
}

type Name =
  | 'addresses'
  | 'date'
  | 'tree'
  | 'metadata'
  | 'build'
  | 'version'
  | 'licences'
  | 'links'
  | 'pack'
  | 'publint'
  | 'types'
  | 'docs'
  | 'check'
  | 'tests'
  | 'aarch64'
  | 'tidy'
  | 'coverage'
  | 'consumer';

/** In the order in which they run, quick ones first. Each resolves to its result, or throws what is wrong. */
const checks: Readonly<Record<Name, () => Promise<string> | string>> = {
  addresses: () => checkAddresses(),
  date: checkDate,
  tree: checkTree,
  metadata: () => checkMetadata(),
  build,
  version: checkVersion,
  licences: checkLicences,
  links: checkLinks,
  pack: async () => checkPacked(await packForRelease()),
  publint: checkExports,
  types: checkTypesResolve,
  docs: async () => {
    await steps.docs();
    return 'build/page/docs';
  },
  check: async () => {
    await check();
    return '';
  },
  tests: () => runCommand('test'),
  aarch64: () => runCommand('test', 'aarch64'),
  tidy: () => runCommand('tidy'),
  coverage: () => runCommand('coverage'),
  consumer: checkWholeConsumer,
};

async function runChecks(names: readonly Name[]): Promise<void> {
  const failed: Name[] = [];
  for (const name of names) {
    const start = Date.now();
    console.log(`\n=== ${name}`);
    try {
      const found = await checks[name]();
      console.log(`passed  ${name} (${seconds(start)})${found ? `: ${found}` : ''}`);
    } catch (error) {
      const why = error instanceof Error && !(error instanceof SetupError) ? error.stack : messageOf(error);
      console.log(`FAILED  ${name} (${seconds(start)})\n${why}`);
      failed.push(name);
    }
  }
  if (failed.length > 0) {
    const passed = names.filter((name) => !failed.includes(name));
    console.log(`\nPassed: ${passed.join(', ') || 'none'}.`);
    throw new SetupError(`Not to be released. Failed: ${failed.join(', ')}.`);
  }
  console.log(`\n${names.length} checks passed.`);
}

const all = Object.keys(checks) as Name[];
/** Checks of what is only filled in for a release. */
const ofTheReleaseItself: readonly Name[] = ['addresses', 'date'];
const dryRun = '--dry-run';

async function tellWhatIsLeft(): Promise<void> {
  for (const name of ofTheReleaseItself) {
    try {
      await checks[name]();
    } catch (error) {
      console.log(`\nTo be done before a release (${name}), which is refused until then:\n${messageOf(error)}`);
    }
  }
}

export const command = commandOf<Name | typeof dryRun>(
  async (words) => {
    const named = words.filter((word) => word !== dryRun);
    if (words.includes(dryRun)) {
      if (named.length > 0) return runChecks(named);
      try {
        await runChecks(all.filter((name) => !ofTheReleaseItself.includes(name)));
      } finally {
        await tellWhatIsLeft();
      }
      return;
    }
    if (named.length > 0) throw new SetupError(`Single checks are for ${dryRun}: a release has to pass all of them.`);
    await runChecks(all);
    await tagRelease(packageJson().version);
  },
  [dryRun, ...all],
);
