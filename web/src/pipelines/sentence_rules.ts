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

/** Whether a value is an object with no other keys than these, of which each value is null or fits. */
const has = (value: unknown, fits: Readonly<Record<string, (value: unknown) => boolean>>): boolean =>
  isObject(value) && Object.entries(value).every(([key, one]) => one === null || fits[key]?.(one) === true);
const any = () => true;

/** Of loading; all but the last say nothing about the result. */
const loading = {
  attn_implementation: any,
  dtype: any,
  torch_dtype: any,
  device_map: any,
  low_cpu_mem_usage: any,
  use_safetensors: any,
  add_pooling_layer: any,
  trust_remote_code: any,
  use_fast: any,
  model_max_length: size.fits,
};
const loaded = not(`without keys but ${Object.keys(loading).join(', ')}`, (value) => has(value, loading));

/** Of a call of the tokenizer; what concerns other inputs than texts is not looked at. */
const texts = {
  max_length: size.fits,
  padding: (value: unknown) => value === true,
  truncation: (value: unknown) => value === true || value === 'longest_first',
};
const called = not('without keys for texts but max_length', (value) => {
  const { text = {}, common = {} } = isObject(value) ? value : { text: null };
  return has(text, texts) && has(common, { return_tensors: any });
});

const isForward = (value: unknown): boolean =>
  isObject(value) &&
  value.method === 'forward' &&
  ['last_hidden_state', 'logits'].includes(String(value.method_output_name));

const tables: Tables = {
  'modules.json': { '*': module },
  'sentence_bert_config.json': {
    max_seq_length: size,
    do_lower_case: 'flag',
    transformer_task: ['feature-extraction', 'sequence-classification'],
    modality_config: not(
      'one of texts by forward, without message (a chat template)',
      (value) => isObject(value) && !value.message && isForward(value.text),
    ),
    module_output_name: ['token_embeddings', 'scores'],
    processing_kwargs: called,
    processor_kwargs: loaded,
    tokenizer_args: loaded,
    model_kwargs: loaded,
    model_args: loaded,
    config_kwargs: loaded,
    config_args: loaded,
  },
  'Pooling/config.json': {
    word_embedding_dimension: size,
    embedding_dimension: size,
    include_prompt: 'flag',
    pooling_mode: not('a mode, or a list of some', (value) => [value].flat().length > 0),
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
    activation_function: not('a class of torch', (value) => isText(value) && value.startsWith('torch.')),
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
