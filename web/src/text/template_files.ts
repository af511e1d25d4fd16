// Chat templates in files of their own.

import { type ReadOptions, readOptional, readPlain, type TextFile } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { type StoredTemplates, templateFile } from './template_names.js';

const subfolder = 'additional_chat_templates';
const additional = /^additional_chat_templates\/([^/]+)\.jinja$/;

/** chat_template.jinja and, of a folder that can be listed, the templates beside it, which their files name. */
export async function readTemplateFiles(folder: Folder, options: ReadOptions): Promise<TextFile[]> {
  const listed = (await folder.list?.(subfolder).catch(() => [])) ?? [];
  const names = [templateFile, ...listed.filter((name) => additional.test(name))];
  const files = await Promise.all(names.map((name) => readPlain(folder, name, options)));
  return files.filter((file) => file !== undefined);
}

/** The same, also added to `texts`, as tokenizer_config.json would have them, whose own they replace. */
export async function readTemplates(
  folder: Folder,
  options: ReadOptions,
  texts: TextFile[],
): Promise<{ chat_template?: StoredTemplates }> {
  const files = await readTemplateFiles(folder, options);
  texts.push(...files);
  const named = files.map(({ name, text }) => ({ name: additional.exec(name)?.[1] ?? 'default', template: text }));
  const [first] = named;
  if (first === undefined) return {};
  return { chat_template: named.length === 1 && first.name === 'default' ? first.template : named };
}

/** The template of chat_template.json, which older processors have: transformers' tokenizers do not read it. */
export async function readOldTemplate(folder: Folder, options: ReadOptions): Promise<string | undefined> {
  const json = await readOptional(folder, 'chat_template.json', options);
  const held: unknown = json === undefined ? undefined : JSON.parse(json.text).chat_template;
  return typeof held === 'string' ? held : undefined;
}
