// npm run tidy: clang-tidy over the C++ library and its examples, with the checks of .clang-tidy. The files of a folder
// are checked together, as they are compiled (the preset `tidy`), which takes a minute or two; the bindings, which
// need Emscripten's headers, and the tests are not checked.

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { configurePreset } from './build/cmake.js';
import { inProject } from './build/fresh.js';
import { commandOf } from './main.js';
import { onPath } from './toolchain/programs.js';
import { run, SetupError, step } from './toolchain/progress.js';

/** Parts of the paths of what is checked, as regular expressions: the library, its kernels for each target, the examples. */
const parts = ['/units/clearformer/', '/units/clearformer_kernels_[a-z0-9]+/', '/cpp/examples/'];

async function tidy(): Promise<void> {
  const program = onPath('run-clang-tidy');
  if (program === undefined || onPath('clang++') === undefined)
    throw new SetupError('clang-tidy and clang++ are needed: apt-get install clang clang-tidy.');
  const folder = await configurePreset('tidy');
  const args = ['-quiet', '-p', folder, '-j', String(availableParallelism())];
  const commands = readFileSync(join(folder, 'compile_commands.json'), 'utf8');
  for (const part of parts)
    if (!RegExp(`"file": "[^"]*${part}`).test(commands))
      throw new SetupError(`No file to be checked contains ${part}.`);
  await step('Checking with clang-tidy', () => run(program, [...args, ...parts], { cwd: inProject() }));
}

export const command = commandOf(tidy);
