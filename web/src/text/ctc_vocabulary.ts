// Folders of wav2vec 2.0 and HuBERT, whose tokens are characters: vocab.json alone, interpreted like transformers'
// Wav2Vec2CTCTokenizer and converted to the form of tokenizer.json. Ids are decoded as outputs of a model trained with
// connectionist temporal classification (Graves et al. 2006): repeated tokens are one, and the padding token is none.

import { ClearformerError, textOf } from '../support/error.js';
import {
  addedTokensOf,
  classNameOf,
  entriesOf,
  specialNames,
  type TokenizerConfig,
  tokenText,
} from './special_tokens.js';

const file = 'vocab.json';
const mostSpaces = 2 ** 31 - 1; // are removed from the ends of a text

/** Whether a folder's tokenizer is of this class. */
export const isCtc = (config: TokenizerConfig): boolean => /^(wav2vec2(ctc)?|hubert)$/.test(classNameOf(config));

/** The special tokens of the class, for those that the files do not name. */
const usual: TokenizerConfig = { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>' };

/** Converts vocab.json: ids by token. Throws `unsupported` for vocabularies of several languages, and lower case. */
export function fromCtcVocab(vocab: Readonly<Record<string, number>>, given: TokenizerConfig): object {
  const delimiter = delimiterOf(given);
  const config: TokenizerConfig = { ...usual, ...given, ...withoutDelimiter(given) };
  const { do_lower_case, replace_word_delimiter_char, target_lang } = config;
  if (target_lang)
    throw refused('target_lang', `it is ${textOf(target_lang)}, and vocabularies of languages are not read`);
  if (do_lower_case) throw refused('do_lower_case', 'it is true, which is not supported');
  if ((replace_word_delimiter_char ?? ' ') !== ' ') throw refused('replace_word_delimiter_char', 'it is no space');
  const names = specialNames.map((name) => tokenText(config[name])).filter((token) => token !== null);
  const special = names
    .filter((token) => token in vocab)
    .map((content) => ({ content, special: true, normalized: false }));
  const decoders = [
    { type: 'CTC', pad_token: tokenText(config.pad_token), word_delimiter_token: delimiter, cleanup: false },
    { type: 'Replace', pattern: { String: delimiter }, content: ' ' },
    { type: 'Fuse' },
    { type: 'Strip', content: ' ', start: mostSpaces, stop: mostSpaces },
  ];
  return {
    added_tokens: addedTokensOf(
      special.map((token) => ({ ...token, id: vocab[token.content] })) as never,
      { ids: new Map(Object.entries(vocab)) },
      config,
    ),
    normalizer: { type: 'Replace', pattern: { String: ' ' }, content: delimiter },
    pre_tokenizer: { type: 'Split', pattern: { Regex: '[\\s\\S]' }, behavior: 'Isolated', invert: false },
    post_processor: null,
    decoder: { type: 'Sequence', decoders },
    model: { type: 'WordLevel', unk_token: tokenText(config.unk_token), vocab },
  };
}

const delimiterOf = ({ word_delimiter_token }: TokenizerConfig) => tokenText(word_delimiter_token) ?? '|';

/**
 * The members that make the words' delimiter a token of texts, which `skip_special_tokens` keeps; the other tokens of a
 * model's own are special.
 */
export function withoutDelimiter(config: TokenizerConfig): TokenizerConfig {
  const delimiter = delimiterOf(config);
  const tokens = entriesOf(config.added_tokens_decoder).filter(([, token]) => tokenText(token) !== delimiter);
  return { word_delimiter_token: undefined, added_tokens_decoder: Object.fromEntries(tokens) };
}

function refused(option: string, why: string): ClearformerError {
  return new ClearformerError('unsupported', `${file}: ${option}: ${why}`, { option, file });
}
