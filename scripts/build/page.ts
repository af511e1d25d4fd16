// The page: web/demo built by Vite into build/page, with the licences of its contents.

import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { run, step } from '../toolchain/progress.js';
import { digestOf, inProject, unlessFresh } from './fresh.js';
import { checkPageLicences, licencesFile } from './licences.js';

export const pageFolder = inProject('build/page');

async function makePage(): Promise<void> {
  const vite = inProject('node_modules/vite/bin/vite.js');
  const args = [vite, 'build', inProject('web/demo'), '--outDir', pageFolder, '--emptyOutDir'];
  await run(process.execPath, args, { cwd: inProject(), show: true });
  const listed = join(pageFolder, 'licences.md'); // written by Vite, lists what it bundled
  checkPageLicences(readFileSync(listed, 'utf8'));
  rmSync(listed);
  copyFileSync(licencesFile, join(pageFolder, 'THIRD_PARTY_LICENSES'));
}

export async function buildPage(): Promise<void> {
  const inputs = ['web/demo', 'dist', 'package-lock.json', 'THIRD_PARTY_LICENSES', 'scripts/build/page.ts'].map(
    (name) => inProject(name),
  );
  const recipe = {
    stamp: inProject('build/page.stamp'),
    digest: digestOf(inputs),
    outputs: [inProject('build/page/index.html')],
  };
  await unlessFresh(recipe, () => step('Building the page (build/page)', makePage));
}
