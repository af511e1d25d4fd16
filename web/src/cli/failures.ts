// What ends the program, as a sentence on standard error and an exit code.

import { CommanderError } from 'commander';
import { ClearformerError } from '../index.js';
import { OutputError } from './output.js';

export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Something the words of the command line cannot mean together. */
export class UsageError extends Error {}

/** Something that cannot be done, with a sentence for people. */
export class Failure extends Error {}

/** An end that the output has told about already. */
export class Reported extends Error {
  constructor(readonly code: number) {
    super('reported');
  }
}

/** The reason of an abort by Ctrl-C. */
export class Interrupted extends Error {}

/** The exit code of what was thrown, told by `tell` unless it was told already or needs no words. */
export function codeOf(thrown: unknown, tell: (line: string) => void): number {
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (thrown instanceof Interrupted) return exitCodes.interrupted;
  if (thrown instanceof Reported) return thrown.code;
  if (thrown instanceof OutputError && thrown.isBrokenPipe) return exitCodes.done;
  tell(`clearformer: ${sentenceOf(thrown)}`);
  return thrown instanceof UsageError ? exitCodes.usage : exitCodes.failed;
}

function sentenceOf(thrown: unknown): string {
  if (thrown instanceof ClearformerError) return `${thrown.code}: ${thrown.message}`;
  return thrown instanceof Error ? thrown.message : String(thrown);
}
