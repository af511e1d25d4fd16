// The state of the git tree for a release: everything committed, and its tag.

import { inProject } from '../build/fresh.js';
import { packageJson } from '../check/metadata.js';
import { run, SetupError } from '../toolchain/progress.js';

const shownFiles = 20;

async function git(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', ['-c', 'safe.directory=*', ...args], { cwd: inProject() });
  return stdout.trim();
}

const tagOf = (version: string): string => `v${version}`;

/** Refuses changed or uncommitted files, and a tag of this version on another commit. */
export async function checkTree(): Promise<string> {
  const changed = (await git('status', '--porcelain')).split('\n').filter(Boolean);
  if (changed.length > 0)
    throw new SetupError(`The tree is not clean: commit or remove\n${changed.slice(0, shownFiles).join('\n')}`);
  const tag = tagOf(packageJson().version);
  const [head, tagged] = [await git('rev-parse', 'HEAD'), await git('rev-list', '-n', '1', '--ignore-missing', tag)];
  if (tagged && tagged !== head)
    throw new SetupError(`The tag ${tag} is on another commit (${tagged.slice(0, 10)}): state the next version.`);
  return head.slice(0, 10);
}

/** Tags the commit; prints what publishes it. */
export async function tagRelease(version: string): Promise<void> {
  const tag = tagOf(version);
  await git('tag', '--annotate', tag, '--message', `clearformer ${version}`);
  console.log(
    `\nTagged ${tag}. "git push origin ${tag}" publishes it: .github/workflows/release.yml builds the tag, runs the checks ` +
      `and "npm publish --provenance". To take it back before that: git tag --delete ${tag}`,
  );
}
