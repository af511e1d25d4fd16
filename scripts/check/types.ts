// Types: runs tsc over the package with tests and scripts, and over the page (which sees only the package's
// declarations).

import { inProject } from '../build/fresh.js';
import { run } from '../toolchain/progress.js';

const projects = ['tsconfig.json', 'web/demo/tsconfig.json'];

export async function checkTypes(): Promise<string> {
  const tsc = inProject('node_modules/typescript/bin/tsc');
  const check = (project: string) =>
    run(process.execPath, [tsc, '--noEmit', '-p', inProject(project)], { cwd: inProject() });
  await Promise.all(projects.map(check));
  return projects.join(', ');
}
