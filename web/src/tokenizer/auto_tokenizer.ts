// AutoTokenizer: a tokenizer from the same source as a model, with the same options.

import { type ReadOptions, readOptional, readRequired, type TextFile } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { Progress, type ProgressCallback } from '../checkpoint/progress.js';
import { openSource, type Source, type SourceOptions } from '../checkpoint/source.js';
import { checkOptions } from '../support/options.js';
import { PreTrainedTokenizer } from './tokenizer.js';

/** How a tokenizer is loaded: a model's options, as far as they concern files. */
export interface TokenizerLoadOptions extends SourceOptions, ReadOptions {
  progress_callback?: ProgressCallback | undefined;
}

const knownOptions = ['revision', 'local_files_only', 'cache', 'signal', 'integrity', 'progress_callback'];
const names = ['tokenizer.json', 'tokenizer_config.json'] as const;

export const AutoTokenizer = {
  /**
   * Loads tokenizer.json (and tokenizer_config.json, if there). Rejects with `file_not_found`, `network_error`,
   * `malformed_config`, `integrity_mismatch`, or the signal's reason.
   */
  async from_pretrained(source: Source, options: TokenizerLoadOptions = {}): Promise<PreTrainedTokenizer> {
    checkOptions('AutoTokenizer.from_pretrained', options, knownOptions);
    options.signal?.throwIfAborted();
    return readTokenizer(openSource(source, options), options);
  },
};

/** A tokenizer from an open folder. */
export async function readTokenizer(folder: Folder, options: TokenizerLoadOptions): Promise<PreTrainedTokenizer> {
  const [json, config] = await Promise.all([
    readRequired(folder, names[0], options),
    readOptional(folder, names[1], options),
  ]);
  const texts = [json, config].filter((text): text is TextFile => text !== undefined);
  const progress = new Progress(
    folder.where,
    new Map(texts.map((text) => [text.name, text.bytes])),
    options.progress_callback,
  );
  for (const text of texts) progress.add(text.name, text.bytes);
  for (const text of texts) progress.done(text.name);
  const tokenizer = new PreTrainedTokenizer(JSON.parse(json.text), config === undefined ? {} : JSON.parse(config.text));
  progress.ready();
  return tokenizer;
}
