// Options common to all commands with a model: where it comes from and how it is loaded.

import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ClearformerError, type LoadOptions } from '../index.js';
import type { Context } from './context.js';
import { Failure } from './failures.js';

/** The values of the options added by `addFileOptions`, `addLoadOptions` and `addGenerativeOptions`. */
export interface SharedOptions {
  dtype?: LoadOptions['dtype'];
  cacheDtype?: LoadOptions['cache_dtype'];
  numThreads?: number | 'auto';
  deterministic?: true;
  revision?: string;
  json?: true;
}

/** Adds the options that concern files. */
export function addFileOptions(command: Command): Command {
  return command.option('--revision <name>', 'branch, tag or commit of a Hub id (default: main)');
}

/** Adds the options that concern models. */
export function addLoadOptions(command: Command): Command {
  const dtype = new Option('--dtype <type>', 'what the weights of linear layers are kept in (default: fp32)');
  const threads = new Option('--num-threads <n>', 'threads that compute, 1 to 64, or auto; the numbers stay the same');
  return addFileOptions(
    command.addOption(dtype.choices(['fp32', 'fp16', 'q8', 'q4'])).addOption(threads.argParser(threadCount)),
  ).option('--deterministic', 'the same bits on every machine: no relaxed SIMD');
}

/** Adds those of models that generate. */
export function addGenerativeOptions(command: Command): Command {
  const cache = new Option('--cache-dtype <type>', 'what keys and values of past tokens are kept in (default: fp32)');
  return addLoadOptions(command).addOption(cache.choices(['fp32', 'fp16', 'q8']));
}

function threadCount(word: string): number | 'auto' {
  if (word === 'auto') return word;
  if (/^\d+$/.test(word) && Number(word) >= 1 && Number(word) <= 64) return Number(word);
  throw new InvalidArgumentError('It must be a whole number from 1 to 64, or auto.');
}

const isUrl = (word: string) => /^[a-z][a-z0-9+.-]+:\/\//i.test(word);

/** The source for an argument: an existing folder takes precedence over a Hub id of the same name. */
function sourceOf(word: string): string {
  if (isUrl(word)) return word;
  if (existsSync(word)) {
    if (statSync(word).isDirectory()) return resolve(word);
    throw new Failure(`${word} is a file, not the folder of a model`);
  }
  if (/^\w[\w.-]*(\/\w[\w.-]*)?$/.test(word)) return word;
  throw new Failure(`${word || 'an empty text'} is no folder`);
}

/**
 * Calls `load` with the command's options and a progress bar. For a Hub id that fails, the error says how it was
 * interpreted.
 */
export async function loaded<Made>(
  context: Context,
  word: string,
  { dtype, cacheDtype, numThreads, deterministic, revision }: SharedOptions,
  load: (source: string, options: LoadOptions) => Promise<Made>,
): Promise<Made> {
  const source = sourceOf(word);
  const { progress, signal } = context;
  try {
    const settings = {
      dtype,
      cache_dtype: cacheDtype,
      numThreads,
      deterministic,
      revision,
      signal,
      progress_callback: progress.callback,
    };
    const given = Object.entries(settings).filter(([, value]) => value !== undefined);
    return await load(source, Object.fromEntries(given));
  } catch (thrown) {
    progress.clear();
    const missing = thrown instanceof ClearformerError && ['file_not_found', 'network_error'].includes(thrown.code);
    if (!missing || isUrl(source) || source !== word || existsSync(word)) throw thrown;
    throw new ClearformerError(
      thrown.code,
      `${thrown.message}; ${word} is no folder here and was taken for a Hub id`,
      thrown.details,
      thrown,
    );
  }
}
