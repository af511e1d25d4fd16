// No source file is longer than can be read at a sitting.
import { readFileSync } from 'node:fs';

import { inProject } from '../build/fresh.mjs';
import { SetupError } from '../toolchain/progress.mjs';
import { projectFiles } from './files.mjs';

const LIMIT = 400;

export async function checkLengths() {
  const files = await projectFiles(/\.(cpp|h|ts|mjs|js|css|html|py|cmake)$|CMakeLists\.txt$/);
  const lengths = files.map((file) => ({
    file,
    lines: readFileSync(inProject(file), 'utf8').trimEnd().split('\n').length,
  }));
  const long = lengths.filter(({ lines }) => lines > LIMIT).map(({ file, lines }) => `${file} has ${lines} lines`);
  if (long.length > 0) throw new SetupError(`${long.join('\n')}\nThe limit is ${LIMIT}.`);
  const longest = lengths.sort((a, b) => b.lines - a.lines)[0];
  return `${files.length} files, the longest is ${longest?.file} with ${longest?.lines} lines`;
}
