// Runs the command line: from arguments to exit code.

import { CommanderError } from 'commander';
import type { Context } from './context.js';
import { codeOf, exitCodes, Interrupted } from './failures.js';
import { Output } from './output.js';
import { makeProgram, prepared } from './program.js';
import { ProgressBar } from './progress_bar.js';

/** Runs the command in the arguments; resolves to 0 (success), 1 (failure), 2 (usage error) or 130 (Ctrl-C). */
export async function run(words: readonly string[]): Promise<number> {
  const stop = new AbortController();
  process.on('SIGINT', () => {
    if (stop.signal.aborted) process.exit(exitCodes.interrupted); // the second Ctrl-C exits at once
    stop.abort(new Interrupted());
  });
  stop.signal.addEventListener('abort', () => process.stdin.destroy()); // a command may be waiting for it
  process.stderr.on('error', () => {}); // nowhere left to report it
  const output = new Output(process.stdout, (error) => stop.abort(error));
  const progress = new ProgressBar(process.stderr);
  const note = (line: string) => void process.stderr.write(`${line}\n`);
  const context: Context = { output, progress, signal: stop.signal, note };
  try {
    const program = makeProgram(context);
    await program.parseAsync(prepared(program, words), { from: 'user' });
    await output.flushed();
    stop.signal.throwIfAborted();
    return exitCodes.done;
  } catch (thrown) {
    progress.clear();
    // Output written so far, such as --help, is flushed; a failure to do so is reported instead.
    const failure = await output.flushed().then(
      () => thrown,
      (unwritten) => (thrown instanceof CommanderError && thrown.exitCode !== 0 ? thrown : unwritten),
    );
    return codeOf(stop.signal.reason instanceof Interrupted ? stop.signal.reason : failure, note);
  }
}
