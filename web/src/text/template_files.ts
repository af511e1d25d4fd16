// Chat templates in files of their own.

import { type ReadOptions, readOptional } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';

/** The template of chat_template.json, which older processors have: transformers' tokenizers do not read it. */
export async function readOldTemplate(folder: Folder, options: ReadOptions): Promise<string | undefined> {
  const json = await readOptional(folder, 'chat_template.json', options);
  const held: unknown = json === undefined ? undefined : JSON.parse(json.text).chat_template;
  return typeof held === 'string' ? held : undefined;
}
