// The project's text files according to git: tracked, or new and not ignored.

import { existsSync } from 'node:fs';

import { inProject } from '../build/fresh.js';
import { run } from '../toolchain/progress.js';

/** Resolves to the paths, relative to the project, that match `pattern`. */
export async function projectFiles(pattern: RegExp): Promise<string[]> {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { stdout } = await run('git', ['-c', 'safe.directory=*', ...args], { cwd: inProject() });
  const files = [...new Set(stdout.split('\0'))].sort();
  return files.filter((file) => pattern.test(file) && existsSync(inProject(file)));
}
