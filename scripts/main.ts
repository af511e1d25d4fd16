// Common to all commands: checks the arguments, and turns an error into plain text and an exit code.

import { type FinishedStep, noteFinished, SetupError } from './toolchain/progress.js';

/** Called by scripts/run.mjs with the arguments and the steps already done. */
export type Command = (words: readonly string[], earlier: readonly FinishedStep[]) => Promise<void>;

/** Runs `work`; an error intended for the user is shown without a stack. */
export async function reportErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(error instanceof SetupError ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}

/** A command that accepts no arguments other than `known`. */
export function commandOf<Word extends string>(
  work: (words: readonly Word[]) => Promise<void>,
  known: readonly Word[] = [],
): Command {
  const isKnown = (word: string): word is Word => known.some((each) => each === word);
  return async (words, earlier) => {
    for (const step of earlier) noteFinished(step);
    const unknown = words.filter((word) => !isKnown(word));
    if (unknown.length > 0) {
      const choice = known.length > 0 ? `There is: ${known.join(', ')}.` : 'No argument is taken.';
      console.error(`Unknown: ${unknown.join(', ')}. ${choice}`);
      process.exitCode = 2;
      return;
    }
    await reportErrors(() => work(words.filter(isKnown)));
  };
}
