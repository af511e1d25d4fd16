// The page: web/demo built by Vite into build/page.

import { run, step } from '../toolchain/progress.js';
import { digestOf, inProject, unlessFresh } from './fresh.js';

export const pageFolder = inProject('build/page');

export async function buildPage(): Promise<void> {
  const inputs = ['web/demo', 'dist', 'package-lock.json', 'scripts/build/page.ts'].map((name) => inProject(name));
  const recipe = {
    stamp: inProject('build/page.stamp'),
    digest: digestOf(inputs),
    outputs: [inProject('build/page/index.html')],
  };
  const vite = inProject('node_modules/vite/bin/vite.js');
  const args = [vite, 'build', inProject('web/demo'), '--outDir', pageFolder, '--emptyOutDir'];
  await unlessFresh(recipe, () =>
    step('Building the page (build/page)', () => run(process.execPath, args, { cwd: inProject(), show: true })),
  );
}
