// Limits the length of source files.

import { readFileSync } from 'node:fs';

import { inProject } from '../build/fresh.js';
import { SetupError } from '../toolchain/progress.js';
import { projectFiles } from './files.js';

const mostLines = 400;

export async function checkLengths(): Promise<string> {
  const files = await projectFiles(/\.(cpp|h|ts|mjs|js|css|html|py|cmake)$|CMakeLists\.txt$/);
  const lengths = files.map((file) => ({
    file,
    lines: readFileSync(inProject(file), 'utf8').trimEnd().split('\n').length,
  }));
  const long = lengths.filter(({ lines }) => lines > mostLines).map(({ file, lines }) => `${file} has ${lines} lines`);
  if (long.length > 0) throw new SetupError(`${long.join('\n')}\nThe limit is ${mostLines}.`);
  const longest = lengths.sort((a, b) => b.lines - a.lines)[0];
  return `${files.length} files, the longest is ${longest?.file} with ${longest?.lines} lines`;
}
