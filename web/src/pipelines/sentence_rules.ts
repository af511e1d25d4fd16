// The rules of the JSON files of sentence-transformers, one table per file.

import { brokenRules, isText, isWhole, type Own, type Tables } from '../checkpoint/file_rules.js';
import { ClearformerError, textOf } from '../support/error.js';
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

const tables: Tables = {
  'modules.json': { '*': module },
  'sentence_bert_config.json': { max_seq_length: size, do_lower_case: 'flag' },
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
  'Dense/config.json': { in_features: size, out_features: size, bias: 'flag', activation_function: 'text' },
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

const refusal = (file: string, why: string, option: string): ClearformerError =>
  new ClearformerError('unsupported', `${file}: ${why} not supported`, { file, option });

/** Throws `unsupported` unless a Dense or Normalize maps the pooled vector, without a residual connection. */
export function expectSentence(values: Readonly<Record<string, unknown>>, file: string): void {
  const usual = {
    module_input_name: 'sentence_embedding',
    module_output_name: 'sentence_embedding',
    use_residual: false,
  };
  for (const [key, only] of Object.entries(usual)) {
    const value = values[key] ?? only;
    if (value !== only) throw refusal(file, `${key} ${textOf(value)}, unlike ${textOf(only)}, is`, key);
  }
}

/** Settings of a Transformer with which texts, or what is read of the model, are others than without. */
export function refusedInputs(values: Readonly<Record<string, unknown>>, file: string): ClearformerError[] {
  const { modality_config: read, processing_kwargs: called, transformer_task: task = 'feature-extraction' } = values;
  const { text, message } = (isObject(read) ? read : {}) as Record<string, Record<string, unknown> | undefined>;
  const found: ClearformerError[] = [];
  if (message) found.push(refusal(file, 'modality_config: texts in a chat template (message) are', 'modality_config'));
  if (task === 'feature-extraction' && text?.method === 'forward' && text.method_output_name !== 'last_hidden_state') {
    found.push(refusal(file, `modality_config: ${textOf(text.method_output_name)} is`, 'modality_config'));
  }
  for (const kind of ['common', 'text'] as const) {
    const own = isObject(called) ? called[kind] : undefined;
    for (const [key, value] of Object.entries(isObject(own) ? own : {})) {
      if (/^(padding|truncation)$/.test(key) && (value === true || value === 'longest_first')) continue;
      found.push(refusal(file, `processing_kwargs: ${kind}.${key} ${textOf(value)} is`, 'processing_kwargs'));
    }
  }
  return found;
}
