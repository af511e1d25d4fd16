// The rules of a tokenizer's JSON files, one table per file (pipelines/sentence_rules.ts has those of embeddings): the
// valid values of each key. Loading rejects with the first violation, `validate` lists all. Null counts as absent; keys
// not in a table are ignored.
// (config.json, generation_config.json, the index and the headers of weights are checked by the core.)

import { ClearformerError } from '../support/error.js';
import { isObject } from '../support/kinds.js';

type Values = Readonly<Record<string, unknown>>;
type Kind = keyof typeof kinds;
/**
 * The rule of a key (`*`: any key): a kind, one of several strings, or one of its own, with `each` for every member of the
 * object or list.
 */
type Rule = Kind | readonly string[] | Own;
export interface Own {
  readonly must: string;
  fits(value: unknown): boolean;
  readonly each?: Rule | Table;
}
type Table = Readonly<Record<string, Rule>>;
/** Tables by file. */
export type Tables = Readonly<Record<string, Table>>;

/** Pairs of ids are encoded in one double (tokenizer.json's merges): left · (the highest + 1) + right. */
export const lastId = 2 ** 26 - 1;

/** Maximum nesting depth of JSON. Vocabularies are flat but large, and are not searched. */
export const deepest = 64;

/** Whether a value is nested more deeply. */
export function isDeeper(value: unknown, levels = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

export const isText = (value: unknown): value is string => typeof value === 'string';
/** Whether a value is a whole number from `least` to `most`. */
export const isWhole = (value: unknown, least = 0, most = Number.MAX_SAFE_INTEGER): boolean =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
/** Whether a value is the id of a token. */
export const isId = (value: unknown): value is number => isWhole(value, 0, lastId);
const isToken = (value: unknown): boolean => isText(value) || (isObject(value) && isText(value.content));

const kinds = {
  flag: ['true or false', (value: unknown) => typeof value === 'boolean'],
  text: ['a text', isText],
  texts: ['a list of texts', (value: unknown) => Array.isArray(value) && value.every(isText)],
  id: [`a whole number from 0 to ${lastId}`, isId],
  count: ['a whole number from 0 to 2147483647', (value: unknown) => isWhole(value, 0, 2 ** 31 - 1)],
  positive: ['a whole number from 1 up', (value: unknown) => Number.isInteger(value) && (value as number) >= 1], // or 1e30
  token: ['a text, or an object with its content', isToken],
  tokens: [
    'a list of tokens, or an object of them',
    (value: unknown) => typeof value === 'object' && value !== null && Object.values(value).every(isToken),
  ],
  template: [
    'a text, or a list of names and templates',
    (value: unknown) =>
      isText(value) ||
      (Array.isArray(value) && value.every((one) => isObject(one) && isText(one.name) && isText(one.template))),
  ],
} as const;

const side = ['left', 'right'];
const direction = [...side, 'Left', 'Right'];
const roles: Table = {
  bos_token: 'token',
  eos_token: 'token',
  unk_token: 'token',
  sep_token: 'token',
  pad_token: 'token',
  cls_token: 'token',
  mask_token: 'token',
  additional_special_tokens: 'tokens',
  extra_special_tokens: 'tokens',
  model_specific_special_tokens: 'tokens',
};
const addedToken: Table = {
  content: 'text',
  special: 'flag',
  single_word: 'flag',
  lstrip: 'flag',
  rstrip: 'flag',
  normalized: 'flag',
};

const object: Own = { must: 'an object', fits: isObject };

const tables: Tables = {
  'tokenizer.json': {
    version: ['1.0'], // of the format, as in tokenizers
    added_tokens: { must: 'a list', fits: Array.isArray, each: addedToken },
    padding: object,
    truncation: object,
  },
  'tokenizer.json: padding': { direction, pad_id: 'id', pad_type_id: 'id', pad_token: 'text' },
  'tokenizer.json: truncation': { direction, max_length: 'count', stride: 'count' },
  'tokenizer_config.json': {
    ...roles,
    added_tokens_decoder: {
      must: 'an object by id',
      fits: (value) => isObject(value) && !/\D/.test(Object.keys(value).join('')),
      each: addedToken,
    },
    model_max_length: 'positive',
    max_len: 'positive',
    padding_side: side,
    truncation_side: side,
    pad_token_type_id: 'id',
    tokenizer_class: 'text',
    model_input_names: 'texts',
    chat_template: 'template',
    clean_up_tokenization_spaces: 'flag',
    add_prefix_space: 'flag',
    do_lower_case: 'flag',
    tokenize_chinese_chars: 'flag',
    strip_accents: 'flag',
  },
  'special_tokens_map.json': roles,
  'added_tokens.json': { '*': 'id' },
  'vocab.json': { '*': 'id' },
};

/** All rules of `from` violated by the values of `file`; `name` is its path if it is in a subfolder. */
export function brokenRules(file: string, values: Values, name = file, from = tables): ClearformerError[] {
  const broken: ClearformerError[] = [];
  const [main = name] = name.split(': ');
  const refuse = (key: string, rule: string, value: unknown) => {
    const message = `${name}: ${key} must be ${rule}, and is ${shownValue(value)}`;
    broken.push(new ClearformerError('malformed_config', message, { file: main, option: key }));
  };
  const check = (key: string, rule: Rule | Table, value: unknown): void => {
    if (Array.isArray(rule)) {
      if (!rule.includes(value)) refuse(key, `one of ${rule.join(', ')}`, value);
    } else if (typeof rule === 'string') {
      const [what, fits] = kinds[rule as Kind];
      if (!fits(value)) refuse(key, what, value);
    } else if ('fits' in rule) {
      const { must, fits, each } = rule as Own;
      if (!fits(value)) refuse(key, must, value);
      else if (each) every(value as Values, each as Rule, (own) => `${key}[${own}]`);
    } else if (isObject(value)) {
      keyed(value, rule as Table, `${key}.`);
    } else refuse(key, 'an object', value);
  };
  const every = (members: Values, rule: Rule, keyOf: (own: string) => string) => {
    for (const [own, member] of Object.entries(members)) check(keyOf(own), rule, member);
  };
  const keyed = (held: Values, table: Table, start: string) => {
    for (const [key, rule] of Object.entries(table)) {
      const value = held[key];
      if (value !== undefined && value !== null) check(start + key, rule, value);
    }
  };
  const { '*': any, ...table } = from[file] ?? {};
  if (any !== undefined) every(values, any, (own) => own);
  keyed(values, table, '');
  return broken;
}

/** All rules violated by tokenizer.json and tokenizer_config.json in parts that no step of the tokenizer reads. */
export function brokenTokenizerRules(json: object, config: object): ClearformerError[] {
  const held = json as Values;
  const part = (name: string) => brokenRules(`tokenizer.json: ${name}`, isObject(held[name]) ? held[name] : {});
  const deep = ['normalizer', 'pre_tokenizer', 'post_processor', 'decoder'].filter((name) => isDeeper(held[name]));
  const nested = (name: string) => `tokenizer.json: ${name} is nested deeper than ${deepest} levels`;
  return [
    ...deep.map((name) => new ClearformerError('malformed_config', nested(name), { file: 'tokenizer.json' })),
    ...brokenRules('tokenizer.json', held),
    ...part('padding'),
    ...part('truncation'),
    ...brokenRules('tokenizer_config.json', config as Values),
  ];
}

/** Throws the first violation. */
export function expectNone([first]: readonly ClearformerError[]): void {
  if (first !== undefined) throw first;
}

/** Parses the object of a file and validates its values. */
export function ruled({ name, text }: { readonly name: string; readonly text: string }) {
  const values = JSON.parse(text);
  expectNone(brokenRules(name, values));
  return values;
}

/** Formats a value for a message. */
export function shownValue(value: unknown): string {
  if (isDeeper(value)) return `nested deeper than ${deepest} levels`; // JSON.stringify recurses
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
