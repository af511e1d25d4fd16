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

/** The commands for models of a task. */
const commandsFor: Readonly<Record<string, string>> = {
  'text-generation': 'generate, chat',
  translation: 'translate',
  summarization: 'generate',
  'text2text-generation': 'generate',
  'automatic-speech-recognition': 'transcribe',
  'text-classification': 'classify',
  'zero-shot-classification': 'classify --labels',
  'image-classification': 'classify --image',
  'zero-shot-image-classification': 'classify --image --labels',
  'text-ranking': 'rank',
  'feature-extraction': 'embed',
  'image-feature-extraction': 'embed --image',
};

/** For a model of other tasks the commands that there are for those. */
function adviceOn({ details }: ClearformerError): string {
  if (details.option !== 'task') return '';
  const commands = (details.expected ?? []).flatMap((task) => commandsFor[task] ?? []);
  return commands.length === 0 ? '' : ` (commands for it: ${[...new Set(commands)].join(', ')})`;
}

function sentenceOf(thrown: unknown): string {
  if (thrown instanceof ClearformerError) return `${thrown.code}: ${thrown.message}${adviceOn(thrown)}`;
  return thrown instanceof Error ? thrown.message : String(thrown);
}
