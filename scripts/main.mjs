// How every script here starts: checks its arguments, and turns an error into plain text and an exit code.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { SetupError } from './toolchain/progress.mjs';

const isProgram = ({ url }) => process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(url);

/**
 * Runs `work(arguments)` if the module of `meta` is the program that was started. `known` lists the arguments there are.
 */
export async function main(meta, work, known = []) {
  if (!isProgram(meta)) return;
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(
      `Unknown: ${unknown.join(', ')}. ${known.length > 0 ? `There is: ${known.join(', ')}.` : 'No argument is taken.'}`,
    );
    process.exitCode = 2;
    return;
  }
  try {
    await work(names);
  } catch (error) {
    console.error(error instanceof SetupError ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}
