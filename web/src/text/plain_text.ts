// Reads files of a tokenizer's folder that are not JSON.

import { type ReadOptions, readTextChunks, type TextFile } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { ClearformerError } from '../support/error.js';

/** Reads a UTF-8 text file, or undefined if there is none (an HTML page in its place counts as none). */
export async function readPlain(folder: Folder, name: string, options: ReadOptions): Promise<TextFile | undefined> {
  const file = await folder.find(name, options.signal, 'read at once');
  if (file === undefined || file.html) return undefined;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  let text = '';
  try {
    for await (const chunk of readTextChunks(file, options)) {
      bytes += chunk.byteLength;
      text += decoder.decode(chunk, { stream: true });
    }
    return { name, text: text + decoder.decode(), bytes };
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    const { where } = file;
    throw new ClearformerError('malformed_config', `${name} is not UTF-8 (${where})`, { file: name, where }, thrown);
  }
}
