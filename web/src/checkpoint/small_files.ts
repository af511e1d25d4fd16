// Loading what is made of small files, such as a config or a processor: its options, and its progress.

import { isMissing } from '../support/error.js';
import { checkOptions, ownOptions } from '../support/options.js';
import type { OrNull } from '../support/or_null.js';
import { loadPart } from '../support/platform.js';
import type { ReadOptions } from './files.js';
import type { Folder, SourceFile } from './folder.js';
import { Progress, type ProgressCallback } from './progress.js';
import { openSource, type Source, type SourceOptions, sourceOptions } from './source.js';

/** The options of a model that concern files. */
export interface SmallFileOptions extends SourceOptions, ReadOptions {
  /** Called for every file that was read, when all are. */
  progress_callback?: ProgressCallback | undefined;
}

/** What `read` makes of a source's files. Rejects as loading a model does if one is missing and the folder has no model. */
export async function readSmallFiles<Made>(
  call: string,
  source: Source,
  given: OrNull<SmallFileOptions>,
  read: (folder: Folder, options: ReadOptions) => Promise<Made>,
): Promise<Made> {
  const known = [...sourceOptions, 'signal', 'integrity', 'progress_callback'];
  const options = await ownOptions<SmallFileOptions>(call, given, (own) => checkOptions(call, own, known));
  options.signal?.throwIfAborted();
  const folder = openSource(source, options);
  const sizes = new Map<string, number>();
  const made = await read(counted(folder, sizes), options).catch(async (thrown) => {
    if (!isMissing(thrown)) throw thrown;
    const { folderWithoutModel } = await loadPart(() => import('./without_model.js'));
    throw (await folderWithoutModel(folder, options.signal)) ?? thrown;
  });
  new Progress(folder.where, sizes, options.progress_callback).whole();
  return made;
}

/** The folder, which notes the bytes of each file that is read to its end. */
function counted(folder: Folder, sizes: Map<string, number>): Folder {
  const find: Folder['find'] = async (...asked) => {
    const file = await folder.find(...asked);
    return file && countedFile(file, sizes);
  };
  return { where: folder.where, list: folder.list?.bind(folder), only: (names) => folder.only(names), find };
}

function countedFile(file: SourceFile, sizes: Map<string, number>): SourceFile {
  const { name, where, size, html, borrowed } = file;
  async function* chunks(...asked: Parameters<SourceFile['chunks']>): AsyncIterable<Uint8Array> {
    let bytes = 0;
    for await (const chunk of file.chunks(...asked)) {
      bytes += chunk.byteLength;
      yield chunk;
    }
    sizes.set(name, bytes);
  }
  return { name, where, size, html, borrowed, chunks };
}
