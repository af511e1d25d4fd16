// Marks that a merge left in a file: nothing else notices them in documentation.

import { readFileSync } from 'node:fs';

import { inProject } from '../build/fresh.js';
import { SetupError } from '../toolchain/progress.js';
import { projectFiles } from './files.js';

export async function checkConflicts(): Promise<string> {
  const files = await projectFiles(/\.(cpp|h|ts|mjs|js|css|html|py|cmake|md|yml|txt)$/);
  const marked = files.filter((file) => /^(<{7}|>{7}) /m.test(readFileSync(inProject(file), 'utf8')));
  if (marked.length > 0) throw new SetupError(`Marks of unresolved conflicts: ${marked.join(', ')}.`);
  return '';
}
