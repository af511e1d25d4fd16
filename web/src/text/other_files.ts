// Folders without tokenizer.json: which of their files are read instead.

import { ruled } from '../checkpoint/file_rules.js';
import { notFound, type ReadOptions, readOptional, readPlain, type TextFile } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { folderWithoutModel } from '../checkpoint/without_model.js';
import { ClearformerError, textOf } from '../support/error.js';
import { fromCtcVocab, isCtc, withoutDelimiter } from './ctc_vocabulary.js';
import {
  classNameOf,
  extraTokens,
  familyOf,
  sentencePieces,
  specialNames,
  type TokenizerConfig,
  tokenText,
} from './special_tokens.js';
import { aminoAcidRoles, fromAminoAcids, fromVocabAndMerges, fromVocabTxt } from './vocabulary_files.js';

/**
 * Converts the other files of a folder to the form of tokenizer.json; undefined if they are no tokenizer either. Rejects
 * as loading a model does if the folder has none that is read.
 */
export async function fromOtherFiles(
  folder: Folder,
  options: ReadOptions,
  config: TokenizerConfig,
  texts: TextFile[],
): Promise<object | undefined> {
  const converted = await fromVocabularies(folder, options, config, texts);
  if (converted) return converted;
  const why = await folderWithoutModel(folder, options.signal);
  if (why) throw why;
  return undefined;
}

async function fromVocabularies(
  folder: Folder,
  options: ReadOptions,
  config: TokenizerConfig,
  texts: TextFile[],
): Promise<object | undefined> {
  if (isCtc(config)) return fromCtc(folder, options, config, texts);
  const esm = classNameOf(config) === 'esm';
  const family = esm ? 'esm' : familyOf(config);
  if (family === undefined) return refuse(folder, options, config);
  const alone = esm || family === 'bert';
  const [vocabulary, merges, added] = await Promise.all([
    alone ? readPlain(folder, 'vocab.txt', options) : readOptional(folder, 'vocab.json', options),
    alone ? undefined : readPlain(folder, 'merges.txt', options),
    'added_tokens_decoder' in config ? undefined : readOptional(folder, 'added_tokens.json', options),
  ]);
  if (vocabulary === undefined || (merges === undefined && !alone)) {
    await refuse(folder, options, merges || vocabulary ? undefined : config);
    if (vocabulary || merges) throw notFound(folder, vocabulary ? 'merges.txt' : 'vocab.json');
    return undefined;
  }
  texts.push(...[vocabulary, merges, added].filter((text) => text !== undefined));
  const whole = added === undefined ? config : { ...config, added_tokens_decoder: legacyTokens(ruled(added), config) };
  if (family === 'bert') return fromVocabTxt(vocabulary.text, whole);
  if (family === 'esm') {
    // The tokenizer, which is made with the same object, has the class's tokens, too.
    Object.assign(config, { ...aminoAcidRoles, ...config });
    return fromAminoAcids(vocabulary.text, { ...aminoAcidRoles, ...whole });
  }
  return fromVocabAndMerges(ruled(vocabulary), merges?.text ?? '', whole, family);
}

/** `config`, which the tokenizer is made of, is changed: see withoutDelimiter. */
async function fromCtc(
  folder: Folder,
  options: ReadOptions,
  config: TokenizerConfig,
  texts: TextFile[],
): Promise<object | undefined> {
  const vocabulary = await readOptional(folder, 'vocab.json', options);
  if (vocabulary === undefined) return refuse(folder, options, undefined);
  texts.push(vocabulary);
  const json = fromCtcVocab(ruled(vocabulary), config);
  Object.assign(config, withoutDelimiter(config));
  return json;
}

/** added_tokens.json maps tokens to ids; the other files say which of them are special. */
function legacyTokens(ids: Record<string, number>, config: TokenizerConfig): Record<number, object> {
  const texts = extraTokens(config).filter((token) => typeof token === 'string');
  const special = new Set([...specialNames.map((name) => config[name]), ...texts].map(tokenText));
  const tokens = Object.entries(ids).map(([content, id]) => {
    return [id, { content, special: special.has(content), normalized: !special.has(content) }];
  });
  return Object.fromEntries(tokens);
}

/** Files that are not read, whatever class the folder names; one that can be listed may have others of tiktoken. */
const others = [...sentencePieces, 'tekken.json', 'tiktoken.model', 'qwen.tiktoken'];
const vocabularies = ['vocab.txt', 'vocab.json'];

/** Rejects, naming the file, for a folder with a tokenizer that is not read; `config` if its class is why. */
async function refuse(
  folder: Folder,
  { signal }: ReadOptions,
  config: TokenizerConfig | undefined,
): Promise<undefined> {
  const listed = (await folder.list?.())?.filter((name) => name.endsWith('.tiktoken')) ?? [];
  const names = [...others, ...listed, ...(config ? vocabularies : [])];
  const found = await Promise.all(names.map((name) => folder.find(name, signal)));
  const file = found.find((each) => each !== undefined && !each.html);
  if (file === undefined) return undefined;
  const { name, where } = file;
  const remedy = "transformers' save_pretrained writes tokenizer.json";
  if (config && vocabularies.includes(name)) {
    const { code, message, details } = notFound(folder, 'tokenizer.json');
    const own = config.tokenizer_class ? textOf(config.tokenizer_class) : 'files that name no class';
    const why = `${name} is read for BERT, ESM, GPT-2, RoBERTa, CLIP and Whisper, not for ${own}: ${remedy}`;
    throw new ClearformerError(code, `${message}, and ${why}`, details);
  }
  const why = `${name}, a file of SentencePiece or tiktoken, is not read: ${remedy} (${where})`;
  throw new ClearformerError('unsupported', why, { file: name, where });
}
