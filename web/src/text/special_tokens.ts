// Special tokens by role: those named by a folder's files, and otherwise the defaults of transformers' classes.

import { textOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import type { AddedToken } from './added_tokens.js';
import type { Step } from './step.js';
import { sizeOf, type Vocabulary } from './token_lists.js';

/** tokenizer_config.json, merged with special_tokens_map.json if that is read. */
export type TokenizerConfig = Readonly<Record<string, unknown>>;

export const specialNames = [
  'bos_token',
  'eos_token',
  'unk_token',
  'sep_token',
  'pad_token',
  'cls_token',
  'mask_token',
] as const;

/** The role of a special token. */
export type SpecialName = (typeof specialNames)[number];

/** The names of SentencePiece models. */
export const sentencePieces = ['source.spm', 'spiece.model', 'spm.model', 'sentencepiece.bpe.model', 'tokenizer.model'];

/** Groups of similar tokenizer classes. */
export type Family = 'albert' | 'bert' | 'roberta' | 'gpt2' | 'clip' | 'whisper' | 't5';

/** Groups of classes: their family, the classes, and their tokens in the order of `specialNames`, with nothing for none. */
const groups: readonly (readonly [family: Family | undefined, classes: string, tokens: string])[] = [
  ['bert', 'bert distilbert electra mobilebert', '  [UNK] [SEP] [PAD] [CLS] [MASK]'],
  ['bert', 'debertav2', '[CLS] [SEP] [UNK] [SEP] [PAD] [CLS] [MASK]'],
  ['albert', 'albert', '[CLS] [SEP] <unk> [SEP] <pad> [CLS] [MASK]'],
  ['roberta', 'roberta xlmroberta camembert bart longformer', '<s> </s> <unk> </s> <pad> <s> <mask>'],
  ['roberta', 'mpnet', '<s> </s> [UNK] </s> <pad> <s> <mask>'],
  ['gpt2', 'gpt2 gptneo opt', '<|endoftext|> <|endoftext|> <|endoftext|>'],
  ['whisper', 'whisper', '<|endoftext|> <|endoftext|> <|endoftext|>'],
  ['clip', 'clip', '<|startoftext|> <|endoftext|> <|endoftext|>  <|endoftext|>'],
  ['t5', 't5 mt5', ' </s> <unk>  <pad>'],
  [undefined, 'gptneox', '<|endoftext|> <|endoftext|> <|endoftext|>  <|padding|>'],
  [undefined, 'gemma', '<bos> <eos> <unk>  <pad>  <mask>'],
  [undefined, 'cohere', '<BOS_TOKEN> <|END_OF_TURN_TOKEN|> <UNK> <SEP> <PAD> <CLS> <MASK_TOKEN>'],
];

/** The `tokenizer_class` or `model_type` without capitals and `TokenizerFast`: `nllb`, `m2m100`. */
export function classNameOf({ tokenizer_class }: TokenizerConfig): string {
  return textOf(tokenizer_class)
    .toLowerCase()
    .replace(/tokenizer(fast)?$|[^a-z0-9]/g, '');
}

const groupOf = (config: TokenizerConfig) =>
  groups.find(([, classes]) => classes.split(' ').includes(classNameOf(config)));

/** The family of a `tokenizer_class` or `model_type`; undefined if unknown. */
export const familyOf = (config: TokenizerConfig): Family | undefined => groupOf(config)?.[0];

/** BERT's normalizer as tokenizer_config.json describes it. */
export function bertNormalizer(config: TokenizerConfig): Step {
  return {
    type: 'BertNormalizer',
    handle_chinese_chars: config.tokenize_chinese_chars ?? true,
    strip_accents: config.strip_accents ?? null,
    lowercase: config.do_lower_case ?? true,
  };
}

/** A step of tokenizer.json, whose settings transformers' classes take from tokenizer_config.json. */
export function settled(step: unknown, config: TokenizerConfig): unknown {
  if (familyOf(config) === undefined || !isObject(step)) return step;
  if (step.type === 'BertNormalizer') return { ...step, ...bertNormalizer(config) };
  if (step.type === 'ByteLevel') return { ...step, add_prefix_space: config.add_prefix_space ?? false };
  return step;
}

/** The inputs of the model that the tokenizer makes: the file's, or the class's. */
export function modelInputNames(config: TokenizerConfig): readonly string[] {
  const names = config.model_input_names;
  if (Array.isArray(names)) return names;
  const types = familyOf(config) === 'bert' && !/^DistilBertT/.test(textOf(config.tokenizer_class));
  return ['input_ids', 'attention_mask', ...(types ? ['token_type_ids'] : [])];
}

/** The text of a token stored as a string or as an object. */
export function tokenText(token: unknown): string | null {
  const content = isObject(token) ? token.content : token;
  return typeof content === 'string' ? content : null;
}

/** The class's token for a role, if it has one. */
export const usualToken = (config: TokenizerConfig, name: SpecialName): string | undefined =>
  groupOf(config)?.[2].split(' ')[specialNames.indexOf(name)];

/** The special tokens by role: named by the files, otherwise the class's defaults if `has` returns true for them. */
export function specialTokensOf(
  config: TokenizerConfig,
  has: (token: string) => boolean,
): Record<SpecialName, string | null> {
  const entries = specialNames.map((name) => {
    const usual = usualToken(config, name);
    return [name, name in config ? tokenText(config[name]) : usual && has(usual) ? usual : null];
  });
  return Object.fromEntries(entries);
}

/** Whether a key is the name of a special token of the model's own. */
export const isOwnName = (key: string): boolean => key.endsWith('_token') && !specialNames.includes(key as SpecialName);

/** The entries of an object; none for anything else. */
export const entriesOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);

/**
 * The model's own special tokens by name: other keys such as `image_token`, and those of a dictionary of additional tokens.
 */
function modelTokens(config: TokenizerConfig): Readonly<Record<string, unknown>> {
  const { additional_special_tokens, extra_special_tokens: extra = additional_special_tokens } = config;
  const keys = Object.entries(config).filter(([key, value]) => isOwnName(key) && tokenText(value) !== null);
  return Object.fromEntries([...keys, ...entriesOf(config.model_specific_special_tokens), ...entriesOf(extra)]);
}

/** The texts of the model's own special tokens by name. */
export function modelTokenTexts(config: TokenizerConfig): Readonly<Record<string, string>> {
  const tokens = Object.entries(modelTokens(config));
  return Object.fromEntries(tokens.map(([name, token]) => [name, tokenText(token) ?? '']));
}

/** The items of a list; none for anything else. */
export const listed = (tokens: unknown): readonly unknown[] => (Array.isArray(tokens) ? tokens : []);

/** The special tokens without a role or name. */
export function extraTokens({
  extra_special_tokens: extra,
  additional_special_tokens: more,
}: TokenizerConfig): readonly unknown[] {
  return listed(Array.isArray(extra) ? extra : more);
}

/**
 * All added tokens: tokenizer.json's, then as in transformers those of tokenizer_config.json that it lacks or has with
 * other properties, and named special tokens that are not among them. Their ids are the vocabulary's or, whatever the
 * files say, the next free ones. What one of the files calls special, or a name has, is special.
 */
export function addedTokensOf(
  own: readonly AddedToken[],
  vocabulary: Vocabulary,
  config: TokenizerConfig,
): AddedToken[] {
  const tokens = new Map<string, AddedToken>();
  const add = (several: readonly Omit<AddedToken, 'id'>[]) => {
    let next = Array.from(tokens.values()).reduce((least, { id }) => Math.max(least, id + 1), sizeOf(vocabulary));
    for (const token of several) {
      const { content } = token;
      const id = tokens.get(content)?.id ?? vocabulary.ids.get(content);
      if (content) tokens.set(content, { ...token, id: id ?? next++ });
    }
  };
  add(own);
  add(Object.values(config.added_tokens_decoder ?? {}) as AddedToken[]);
  const inFiles = (token: string) => tokens.has(token) || vocabulary.ids.has(token);
  const roles = Object.entries(specialTokensOf(config, inFiles));
  const named = [
    ...roles.map(([name, token]) => token && (config[name] ?? token)),
    ...Object.values(modelTokens(config)),
  ];
  add([...named, ...extraTokens(config)].map(asToken).filter(({ content }) => !tokens.has(content)));
  const texts = new Set([...named, ...own.filter(({ special }) => special)].map(tokenText));
  return Array.from(tokens.values(), (token) => ({ ...token, special: token.special || texts.has(token.content) }));
}

/** A token of a file: a text is a special one, an object says itself whether it is. */
function asToken(token: unknown): Omit<AddedToken, 'id'> {
  return { special: !isObject(token), ...(isObject(token) && token), content: tokenText(token) ?? '' };
}
