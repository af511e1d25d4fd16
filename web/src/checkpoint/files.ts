// Reads a folder's files: texts, JSON, and the exact size of weights. Every error names the file and its cause.

import { ClearformerError, messageOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import { throwIfAborted } from '../support/options.js';
import { digests } from './digest_part.js';
import { deepest, isDeeper } from './file_rules.js';
import type { Folder, SourceFile } from './folder.js';

/** A text file with its bytes. */
export interface TextFile {
  name: string;
  text: string;
  bytes: number;
}

/** Maximum bytes of texts with a vocabulary, and of other texts: far above any model's. */
const mostBytes = { vocabulary: 512 << 20, other: 32 << 20 };
const vocabularies = /^(tokenizer\.json|vocab\.(json|txt)|merges\.txt)$/;

/** The chunks of a text file. Rejects when it exceeds the maximum of its kind. */
async function* readTextChunks(file: SourceFile, options: ReadOptions): AsyncIterable<Uint8Array> {
  const most = vocabularies.test(file.name) ? mostBytes.vocabulary : mostBytes.other;
  const refuse = (bytes: number | string) => {
    throw malformed(file, `has ${bytes} bytes, and no more than ${most} are read: it is no file of a model`);
  };
  if ((file.size ?? 0) > most) refuse(file.size ?? 0);
  let bytes = 0;
  for await (const chunk of readChunks(file, options)) {
    if (bytes === 0 && new TextDecoder().decode(chunk.subarray(0, lfsStart.length)) === lfsStart)
      throw malformed(file, "is a pointer of Git LFS: 'git lfs pull' downloads the file");
    bytes += chunk.byteLength;
    if (bytes > most) refuse(`more than ${most}`);
    yield chunk;
  }
}

/** The start of what Git LFS leaves in a clone in place of a file. */
const lfsStart = 'version https://git-lfs.';

/** Expected SHA-256 (64 hexadecimal digits) by file name. */
export type Integrity = Readonly<Record<string, string>>;

/** Options for reading files. */
export interface ReadOptions {
  signal?: AbortSignal | undefined;
  integrity?: Integrity | undefined;
}

/** The weights of a checkpoint, in one file or in those of the index. */
export const weightsName = 'model.safetensors';
export const indexName = 'model.safetensors.index.json';

/** Whether a file is read for the model itself, not for what its inputs are made of. */
export function isOfModel(name: string): boolean {
  return /^(config|generation_config)\.json$|\.safetensors(\.index\.json)?$/.test(name);
}

const known = [
  'config.json',
  'generation_config.json',
  weightsName,
  indexName,
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'preprocessor_config.json',
  'processor_config.json',
  'modules.json',
];

/** Throws for a checksum whose name matches no file: it would suggest a check that did not happen. */
export function checkIntegrity(integrity: Integrity | undefined, read: readonly string[]): void {
  for (const name of Object.keys(integrity ?? {})) {
    if (read.includes(name) || known.includes(name)) continue;
    const message = `integrity: ${name} is none of the files of this source (${read.join(', ')})`;
    throw new ClearformerError('invalid_argument', message, { option: 'integrity', file: name });
  }
}

/** A file's chunks; at the end its SHA-256 is compared with the expected one, if any, throwing `integrity_mismatch`. */
export async function* readChunks(file: SourceFile, options: ReadOptions): AsyncIterable<Uint8Array> {
  const { signal, integrity } = options;
  const expected = integrity?.[file.name]?.toLowerCase();
  const hash = expected === undefined ? undefined : await (await digests()).runningSha256();
  for await (const chunk of file.chunks(signal)) {
    throwIfAborted(signal);
    hash?.update(chunk);
    yield chunk;
  }
  const found = hash?.hex();
  if (found !== expected) {
    throw new ClearformerError(
      'integrity_mismatch',
      `${file.name}: SHA-256 is ${found}, expected ${expected} (${file.where})`,
      { file: file.name, where: file.where },
    );
  }
}

/** Reads a JSON object, or undefined if there is no file (an HTML page in its place counts as none). */
export async function readOptional(folder: Folder, name: string, options: ReadOptions): Promise<TextFile | undefined> {
  const file = await folder.find(name, options.signal, 'read at once');
  return file === undefined || file.html ? undefined : readJson(file, options);
}

/** Reads a UTF-8 text file, or undefined if there is none (an HTML page in its place counts as none). */
export async function readPlain(folder: Folder, name: string, options: ReadOptions): Promise<TextFile | undefined> {
  const file = await folder.find(name, options.signal, 'read at once');
  return file === undefined || file.html ? undefined : readText(file, options);
}

/**
 * Reads a JSON object; throws `file_not_found` if there is no file, `malformed_config` if it contains something else.
 */
export async function readRequired(folder: Folder, name: string, options: ReadOptions): Promise<TextFile> {
  const file = await folder.find(name, options.signal, 'read at once');
  if (file === undefined) throw notFound(folder, name);
  return readJson(file, options);
}

export function notFound(folder: Folder, name: string): ClearformerError {
  return new ClearformerError('file_not_found', `${name} is not in ${folder.where}`, {
    file: name,
    where: folder.where,
  });
}

async function readText(file: SourceFile, options: ReadOptions): Promise<TextFile> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  let text = '';
  try {
    for await (const chunk of readTextChunks(file, options)) {
      bytes += chunk.byteLength;
      text += decoder.decode(chunk, { stream: true });
    }
    text += decoder.decode();
  } catch (thrown) {
    throw thrown instanceof TypeError ? malformed(file, 'is not UTF-8') : thrown;
  }
  return { name: file.name, text, bytes };
}

async function readJson(file: SourceFile, options: ReadOptions): Promise<TextFile> {
  const read = await readText(file, options);
  checkJson(file, read.text);
  return read;
}

function checkJson(file: SourceFile, text: string): void {
  if (file.html || text.trimStart().startsWith('<'))
    throw malformed(file, 'is an HTML page, not JSON: the server answers with a page where it has no such file');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed(file, `is not JSON (${messageOf(cause)})`);
  }
  if (!isObject(value)) throw malformed(file, 'is not a JSON object');
  if (!vocabularies.test(file.name) && isDeeper(value))
    throw malformed(file, `is nested deeper than ${deepest} levels`);
}

function malformed(file: SourceFile, why: string): ClearformerError {
  return new ClearformerError('malformed_config', `${file.name} ${why} (${file.where})`, {
    file: file.name,
    where: file.where,
  });
}
