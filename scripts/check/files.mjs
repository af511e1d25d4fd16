// The project's own text files, as git knows them: tracked, or new and not ignored.
import { existsSync } from 'node:fs';

import { inProject } from '../build/fresh.mjs';
import { run } from '../toolchain/progress.mjs';

/** Resolves to the paths, relative to the project, that match `pattern`. */
export async function projectFiles(pattern) {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { stdout } = await run('git', ['-c', 'safe.directory=*', ...args], { cwd: inProject() });
  const files = [...new Set(stdout.split('\0'))].sort();
  return files.filter((file) => pattern.test(file) && existsSync(inProject(file)));
}
