// The package's exports: publint looks at package.json and at the files in dist/ as users' tools will.

import { inProject } from '../build/fresh.js';
import { run } from '../toolchain/progress.js';

export async function checkExports(): Promise<string> {
  const publint = inProject('node_modules/publint/src/cli.js');
  await run(process.execPath, [publint, 'run', '--pack', 'false', '--strict'], { cwd: inProject() });
  return '';
}
