// Folders without tokenizer.json: which of their files are read instead.

import { ruled } from '../checkpoint/file_rules.js';
import { type ReadOptions, readOptional, readPlain, type TextFile } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { ClearformerError } from '../support/error.js';
import {
  extraTokens,
  familyOf,
  sentencePieces,
  specialNames,
  type TokenizerConfig,
  tokenText,
} from './special_tokens.js';
import { fromVocabAndMerges, fromVocabTxt } from './vocabulary_files.js';

/** Converts the other files of a folder to the form of tokenizer.json; undefined if they are no tokenizer either. */
export async function fromOtherFiles(
  folder: Folder,
  options: ReadOptions,
  config: TokenizerConfig,
  texts: TextFile[],
): Promise<object | undefined> {
  const family = familyOf(config);
  if (family === undefined) return refuseSentencePiece(folder, options);
  const [vocabulary, merges, added] = await Promise.all([
    family === 'bert' ? readPlain(folder, 'vocab.txt', options) : readOptional(folder, 'vocab.json', options),
    family === 'bert' ? undefined : readPlain(folder, 'merges.txt', options),
    'added_tokens_decoder' in config ? undefined : readOptional(folder, 'added_tokens.json', options),
  ]);
  if (vocabulary === undefined || (merges === undefined && family !== 'bert')) {
    return refuseSentencePiece(folder, options);
  }
  texts.push(...[vocabulary, merges, added].filter((text) => text !== undefined));
  const whole = added === undefined ? config : { ...config, added_tokens_decoder: legacyTokens(ruled(added), config) };
  if (family === 'bert') return fromVocabTxt(vocabulary.text, whole);
  return fromVocabAndMerges(ruled(vocabulary), merges?.text ?? '', whole, family);
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

async function refuseSentencePiece(folder: Folder, { signal }: ReadOptions): Promise<undefined> {
  const found = await Promise.all(sentencePieces.map((name) => folder.find(name, signal)));
  const file = found.find((each) => each !== undefined && !each.html);
  if (file === undefined) return undefined;
  const { name, where } = file;
  const why = `${name} is a SentencePiece model, which is not read: transformers' fast tokenizers write tokenizer.json`;
  throw new ClearformerError('unsupported', `${why} (${where})`, { file: name, where });
}
