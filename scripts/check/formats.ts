// Formats: clang-format for C++, Biome for everything else (which also lints). With `fix` they are corrected in place.

import { createRequire } from 'node:module';

import { inProject } from '../build/fresh.js';
import { run, SetupError } from '../toolchain/progress.js';
import { projectFiles } from './files.js';

const shownLines = 150;
const require = createRequire(inProject('package.json'));

/** Resolves to the number of C++ files checked. */
export async function checkCppFormat(fix: boolean): Promise<string> {
  const files = await projectFiles(/\.(cpp|h)$/);
  if (files.length === 0) return '0 files';
  const { clangFormatPath } = require('clang-format-node') as { clangFormatPath: string };
  const options = { cwd: inProject(), check: false };
  const { code, output } = await run(
    clangFormatPath,
    [...(fix ? ['-i'] : ['--dry-run', '-Werror']), ...files],
    options,
  );
  if (code === 0) return `${files.length} files`;
  const named = [...output.matchAll(/^([^:\n]+):\d+:\d+: error/gm)].map((match) => match[1]);
  const list = [...new Set(named)].join('\n');
  throw new SetupError(`${list || output}\nnot formatted; "npm run check -- --fix" does it`);
}

async function biome(args: readonly string[]): Promise<string> {
  const program = require.resolve('@biomejs/biome/bin/biome');
  const options = { cwd: inProject(), check: false };
  const { code, output } = await run(process.execPath, [program, ...args, '--colors=off'], options);
  if (code !== 0) throw new SetupError(output.trim().split('\n').slice(0, shownLines).join('\n'));
  return output;
}

/** Everything but C++. Lint errors are reported with their positions, formats as a list of files. */
export async function checkWebFormat(fix: boolean): Promise<string> {
  if (fix) await biome(['format', '--write']);
  else await biome(['format', '--reporter=summary']);
  const lint = ['check', '--formatter-enabled=false', '--error-on-warnings', ...(fix ? ['--write'] : [])];
  return /Checked (\d+ files?)/.exec(await biome(lint))?.[1] ?? '';
}
