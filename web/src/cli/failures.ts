// Errors that end the program, with a message on standard error and an exit code.

import { CommanderError } from 'commander';
import { ClearformerError } from '../index.js';
import { OutputError } from './output.js';

export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Contradictory command line arguments. */
export class UsageError extends Error {}

/** A failure with a message for users. */
export class Failure extends Error {}

/** A failure that the output has already reported. */
export class Reported extends Error {
  constructor(readonly code: number) {
    super('reported');
  }
}

/** The abort reason for Ctrl-C. */
export class Interrupted extends Error {}

/** The exit code for what was thrown; calls `tell` unless it was reported already or needs no message. */
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
