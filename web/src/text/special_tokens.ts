// Special tokens by role: those named by a folder's files, and otherwise the defaults of transformers' classes.

import { textOf } from '../support/error.js';
import type { AddedToken } from './added_tokens.js';
import { isObject, type Step } from './step.js';
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

/** Whether models with such a tokenizer may have a chat template: those of encoders and translators have none. */
export function mayChat(config: TokenizerConfig): boolean {
  const family = familyOf(config);
  return family === undefined || family === 'gpt2';
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

/** Whether the class has a default for a role. */
export function hasUsualToken(config: TokenizerConfig, name: SpecialName): boolean {
  const family = familyOf(config);
  return family !== undefined && byFamily[family][name] !== undefined;
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

const isOwnName = (key: string) => key.endsWith('_token') && !specialNames.some((name) => name === key);

/** The entries of an object; none for anything else. */
const entriesOf = (value: unknown) => (isObject(value) ? Object.entries(value) : []);

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
  const texts = Object.entries(modelTokens(config)).map(([name, token]) => [name, tokenText(token)] as const);
  return Object.fromEntries(texts.filter((entry): entry is readonly [string, string] => entry[1] !== null));
}

const listed = (tokens: unknown): readonly unknown[] => (Array.isArray(tokens) ? tokens : []);

/** The special tokens without a role or name. */
function extraTokens({ extra_special_tokens: extra, additional_special_tokens: more }: TokenizerConfig) {
  return listed(Array.isArray(extra) ? extra : more);
}

/** The tokens that are special in added_tokens.json: those with roles, and texts among the additional ones. */
export function specialInLists(config: TokenizerConfig): unknown[] {
  const texts = extraTokens(config).filter((token) => typeof token === 'string');
  return [...specialNames.map((name) => config[name]), ...texts];
}

/**
 * tokenizer_config.json with special_tokens_map.json, whose list of additional tokens continues its own. As in transformers,
 * the map's tokens of the model come before tokenizer_config.json's texts.
 */
export function withMap(config: TokenizerConfig, map: TokenizerConfig): TokenizerConfig {
  const { additional_special_tokens, extra_special_tokens: extra = additional_special_tokens, ...others } = config;
  const { extra_special_tokens: more } = map;
  const isText = ([key, value]: readonly [string, unknown]) => isOwnName(key) && typeof value === 'string';
  const named = [...Object.entries(others).filter(isText), ...entriesOf(extra)];
  const specific = named.length > 0 ? named : entriesOf(others.model_specific_special_tokens);
  const asSpecial = (token: unknown) => (isObject(token) ? { ...token, special: true } : token);
  return {
    ...Object.fromEntries(Object.entries(others).filter((entry) => !isText(entry))),
    ...map,
    model_specific_special_tokens: Object.fromEntries([...specific, ...entriesOf(more)]),
    extra_special_tokens: Array.isArray(more)
      ? [...listed(extra), ...more.filter((token) => !listed(extra).includes(token)).map(asSpecial)]
      : (more ?? extra),
  };
}

/**
 * All added tokens: tokenizer.json's, then as in transformers those of tokenizer_config.json that it lacks or has with
 * other properties, and named special tokens that are not among them. Their ids are the vocabulary's or, whatever the files say, the
 * next free ones.
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
      if (token.content === '') continue;
      const id = tokens.get(token.content)?.id ?? vocabulary.ids.get(token.content) ?? next++;
      const special = token.special === true || tokens.get(token.content)?.special === true; // what was special stays it
      tokens.set(token.content, { ...token, special, normalized: token.normalized ?? !token.special, id });
    }
  };
  add(own);
  const isKnown = (token: string) => tokens.has(token) || vocabulary.ids.has(token);
  const listed = Object.values(config.added_tokens_decoder ?? {}) as AddedToken[];
  const inFiles = (token: string) => isKnown(token) || listed.some(({ content }) => content === token);
  const roles = Object.entries(specialTokensOf(config, inFiles)).map(
    ([name, token]) => token && (config[name] ?? token),
  );
  const named = [...roles, ...Object.values(modelTokens(config))];
  const texts = new Set(named.map(tokenText));
  const asSpecial = (token: unknown) => ({ ...asToken(token), special: true });
  const others = [...named.map(asSpecial), ...extraTokens(config).map(asToken)].filter(
    ({ content }) => !tokens.has(content) && !listed.some((one) => one.content === content),
  );
  add([
    ...listed.map((token) => ({ ...token, special: Boolean(token.special) || texts.has(token.content) })),
    ...others,
  ]);
  return [...tokens.values()];
}

/** A token of a file: a text is a special one, an object says itself whether it is. */
function asToken(token: unknown): Omit<AddedToken, 'id'> {
  const content = tokenText(token) ?? '';
  return isObject(token) ? { ...token, content, special: token.special === true } : { content, special: true };
}
