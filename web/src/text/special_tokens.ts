// Special tokens by role: those named by a folder's files, and otherwise the defaults of transformers' classes.

import { textOf } from '../support/error.js';
import type { AddedToken } from './added_tokens.js';
import { isObject, type Step } from './step.js';

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
type SpecialTokens = Readonly<Partial<Record<SpecialName, string>>>;

/** The names of SentencePiece models. */
export const sentencePieces = ['source.spm', 'spiece.model', 'sentencepiece.bpe.model', 'tokenizer.model'];

/** Groups of similar tokenizer classes. */
export type Family = 'albert' | 'bert' | 'roberta' | 'gpt2' | 'clip' | 'whisper' | 't5';

const endOfText = '<|endoftext|>';
const byFamily: Readonly<Record<Family, SpecialTokens>> = {
  bert: { unk_token: '[UNK]', sep_token: '[SEP]', pad_token: '[PAD]', cls_token: '[CLS]', mask_token: '[MASK]' },
  albert: { unk_token: '<unk>', sep_token: '[SEP]', pad_token: '<pad>', cls_token: '[CLS]', mask_token: '[MASK]' },
  roberta: {
    bos_token: '<s>',
    eos_token: '</s>',
    unk_token: '<unk>',
    sep_token: '</s>',
    pad_token: '<pad>',
    cls_token: '<s>',
    mask_token: '<mask>',
  },
  gpt2: { bos_token: endOfText, eos_token: endOfText, unk_token: endOfText },
  whisper: { bos_token: endOfText, eos_token: endOfText, unk_token: endOfText },
  clip: { bos_token: '<|startoftext|>', eos_token: endOfText, unk_token: endOfText, pad_token: endOfText },
  t5: { eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>' },
};
const familyNames: Readonly<Record<string, Family>> = {
  bert: 'bert',
  distilbert: 'bert',
  electra: 'bert',
  debertav2: 'bert',
  albert: 'albert',
  mobilebert: 'bert',
  roberta: 'roberta',
  xlmroberta: 'roberta',
  camembert: 'roberta',
  bart: 'roberta',
  longformer: 'roberta',
  mpnet: 'roberta',
  gpt2: 'gpt2',
  gptneo: 'gpt2',
  opt: 'gpt2',
  clip: 'clip',
  whisper: 'whisper',
  t5: 't5',
  mt5: 't5',
};

/** The `tokenizer_class` or `model_type` without capitals and `TokenizerFast`: `nllb`, `m2m100`. */
export function classNameOf({ tokenizer_class }: TokenizerConfig): string {
  return textOf(tokenizer_class)
    .toLowerCase()
    .replace(/tokenizer(fast)?$|[^a-z0-9]/g, '');
}

/** The family of a `tokenizer_class` or `model_type`; undefined if unknown. */
export function familyOf(config: TokenizerConfig): Family | undefined {
  const name = classNameOf(config);
  return Object.hasOwn(familyNames, name) ? familyNames[name] : undefined;
}

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
  const types = familyOf(config) === 'bert' && !/distil/i.test(textOf(config.tokenizer_class));
  return ['input_ids', 'attention_mask', ...(types ? ['token_type_ids'] : [])];
}

/** The text of a token stored as a string or as an object. */
export function tokenText(token: unknown): string | null {
  const content = typeof token === 'object' && token !== null ? (token as { content?: unknown }).content : token;
  return typeof content === 'string' ? content : null;
}

/** The special tokens by role: named by the files, otherwise the class's defaults if `has` returns true for them. */
export function specialTokensOf(
  config: TokenizerConfig,
  has: (token: string) => boolean,
): Record<SpecialName, string | null> {
  const family = familyOf(config);
  const entries = specialNames.map((name) => {
    const usual = family === undefined ? undefined : byFamily[family][name];
    const known = usual !== undefined && has(usual) ? usual : null;
    return [name, name in config ? tokenText(config[name]) : known];
  });
  return Object.fromEntries(entries);
}

/** The special tokens without a role: a list, or tokens by names of the model's own. */
export function extraTokens({
  extra_special_tokens: extra,
  additional_special_tokens: more,
}: TokenizerConfig): unknown[] {
  if (Array.isArray(extra)) return extra;
  return [...(isObject(extra) ? Object.values(extra) : []), ...(Array.isArray(more) ? more : [])];
}

/**
 * All added tokens: tokenizer.json's, then as in transformers those of tokenizer_config.json that it lacks or has with
 * other properties, and named special tokens that are not among them. Tokens missing in the vocabulary get the next
 * free id.
 */
export function addedTokensOf(
  own: readonly AddedToken[],
  vocabulary: ReadonlyMap<string, number>,
  config: TokenizerConfig,
): AddedToken[] {
  const tokens = new Map(own.map((token) => [token.content, token]));
  let next = own.reduce((least, { id }) => Math.max(least, id + 1), vocabulary.size);
  const add = (token: Omit<AddedToken, 'id'>) => {
    const id = tokens.get(token.content)?.id ?? vocabulary.get(token.content) ?? next++;
    tokens.set(token.content, { ...token, id });
  };
  const isKnown = (token: string) => tokens.has(token) || vocabulary.has(token);
  const listed = Object.values(config.added_tokens_decoder ?? {}) as AddedToken[];
  const inFiles = (token: string) => isKnown(token) || listed.some(({ content }) => content === token);
  const named = Object.values(specialTokensOf(config, inFiles));
  for (const token of listed) add({ ...token, special: Boolean(token.special) || named.includes(token.content) });
  const special = [
    ...named.map((token, i) => (token === null ? null : (config[specialNames[i] as SpecialName] ?? token))),
    ...extraTokens(config),
  ];
  for (const token of special) {
    const content = tokenText(token);
    if (content === null || content === '' || tokens.has(content)) continue;
    add({ normalized: false, ...(typeof token === 'object' ? token : undefined), content, special: true });
  }
  return [...tokens.values()];
}
