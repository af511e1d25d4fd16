// Types: tsc over the package with its tests, and over the page (which sees only the package's declarations).
import { existsSync } from 'node:fs';

import { inProject } from '../build/fresh.mjs';
import { run } from '../toolchain/progress.mjs';

const PROJECTS = ['tsconfig.json', 'web/demo/tsconfig.json'];

export async function checkTypes() {
  const projects = PROJECTS.filter((file) => existsSync(inProject(file)));
  const tsc = inProject('node_modules/typescript/bin/tsc');
  for (const project of projects) {
    await run(process.execPath, [tsc, '--noEmit', '-p', inProject(project)], { cwd: inProject() });
  }
  return projects.join(', ');
}
