// The rules of the JSON files of sentence-transformers, one table per file.

import { brokenRules, isText, isWhole, type Own, type Tables } from '../checkpoint/file_rules.js';
import type { ClearformerError } from '../support/error.js';
import { isObject } from '../support/kinds.js';

const module = {
  must: 'an object with a type, a text, and a path of plain names',
  fits(value: unknown): boolean {
    const { type, path = '' } = isObject(value) ? value : {};
    return isText(type) && isText(path) && !/(^|\/)\.*(\/|$)|[\\?#]/.test(path || 'x');
  },
};

const size: Own = {
  must: 'a whole number from 1 to 2147483647',
  fits: (value) => isWhole(value, 1, 2 ** 31 - 1),
};

// Other values of these keys would change the result.
const vector = ['sentence_embedding'];
const names = { module_input_name: vector, module_output_name: vector };
const not = (must: string, fits: (value: unknown) => boolean): Own => ({ must, fits });

const tables: Tables = {
  'modules.json': { '*': module },
  'sentence_bert_config.json': {
    max_seq_length: size,
    do_lower_case: 'flag',
    modality_config: not('without message (a chat template)', (value) => isObject(value) && !value.message),
  },
  'Pooling/config.json': {
    word_embedding_dimension: size,
    embedding_dimension: size,
    include_prompt: 'flag',
    pooling_mode_cls_token: 'flag',
    pooling_mode_mean_tokens: 'flag',
    pooling_mode_max_tokens: 'flag',
    pooling_mode_mean_sqrt_len_tokens: 'flag',
    pooling_mode_weightedmean_tokens: 'flag',
    pooling_mode_lasttoken: 'flag',
  },
  'Dense/config.json': {
    ...names,
    in_features: size,
    out_features: size,
    bias: 'flag',
    activation_function: 'text',
    use_residual: not('false', (value) => value === false),
  },
  'Normalize/config.json': names,
  'config_sentence_transformers.json': {
    prompts: { must: 'an object', fits: isObject, each: 'text' },
    default_prompt_name: 'text',
    activation_fn: 'text',
    truncate_dim: size,
    similarity_fn_name: ['cosine', 'dot', 'euclidean', 'manhattan'],
  },
};

/** All rules violated by the values of `file`; `name` is its path if it is in a subfolder. */
export const brokenSentenceRules = (
  file: string,
  values: Readonly<Record<string, unknown>>,
  name = file,
): ClearformerError[] => brokenRules(file, values, name, tables);
