// Formats: clang-format for C++, Biome for everything else (which also lints).

import { createRequire } from 'node:module';

import { inProject } from '../build/fresh.js';
import { run, SetupError } from '../toolchain/progress.js';
import { projectFiles } from './files.js';

const shownLines = 150;
const require = createRequire(inProject('package.json'));
const options = { cwd: inProject(), check: false };

async function clangFormat(args: readonly string[], files: readonly string[]) {
  const { clangFormatPath } = require('clang-format-node') as { clangFormatPath: string };
  return run(clangFormatPath, [...args, ...files], options);
}

const biome = (args: readonly string[]) =>
  run(process.execPath, [require.resolve('@biomejs/biome/bin/biome'), ...args, '--colors=off'], options);

const cppFiles = () => projectFiles(/\.(cpp|h)$/);
const lint = ['check', '--formatter-enabled=false', '--error-on-warnings'];

/** Corrects formats, and what the linter can, in place. What it can't, the checks report. */
export async function fixFormats(): Promise<void> {
  await clangFormat(['-i'], await cppFiles());
  await biome(['format', '--write']);
  await biome([...lint, '--write']);
}

/** Resolves to the number of C++ files checked. */
export async function checkCppFormat(): Promise<string> {
  const files = await cppFiles();
  if (files.length === 0) return '0 files';
  const { code, output } = await clangFormat(['--dry-run', '-Werror'], files);
  if (code === 0) return `${files.length} files`;
  const named = [...output.matchAll(/^([^:\n]+):\d+:\d+: error/gm)].map((match) => match[1]);
  const list = [...new Set(named)].join('\n');
  throw new SetupError(`${list || output}\nnot formatted; "npm run check -- --fix" does it`);
}

async function biomeOutput(args: readonly string[]): Promise<string> {
  const { code, output } = await biome(args);
  if (code !== 0) throw new SetupError(output.trim().split('\n').slice(0, shownLines).join('\n'));
  return output;
}

/** Everything but C++. Lint errors are reported with their positions, formats as a list of files. */
export async function checkWebFormat(): Promise<string> {
  await biomeOutput(['format', '--reporter=summary']);
  return /Checked (\d+ files?)/.exec(await biomeOutput(lint))?.[1] ?? '';
}
