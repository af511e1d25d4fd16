// The package's exports: publint checks package.json and the files in dist/ from a user's point of view.

import { inProject } from '../build/fresh.js';
import { run } from '../toolchain/progress.js';

export async function checkExports(): Promise<string> {
  const publint = inProject('node_modules/publint/src/cli.js');
  await run(process.execPath, [publint, 'run', '--pack', 'false', '--strict'], { cwd: inProject() });
  return '';
}
