// config.json of every architecture and generation_config.json, key by key.

import {
  type BadFolder,
  baseOf,
  bytesOf,
  changed,
  type Draw,
  jsonOf,
  type Kind,
  type Reader,
  shown,
  wrong,
} from './folders.js';

const models: readonly [string, Reader][] = [
  ['stories260K', 'causal'],
  ['models/gpt2/even', 'causal'],
  ['models/gpt_neo/even', 'causal'],
  ['models/mistral/even', 'causal'],
  ['models/qwen2/even', 'causal'],
  ['models/qwen3/even', 'causal'],
  ['models/phi/even', 'causal'],
  ['models/phi3/even', 'causal'],
  ['models/gemma2/even', 'causal'],
  ['models/olmo2/even', 'causal'],
  ['models/smollm3/odd', 'causal'],
  ['models/granite/even', 'causal'],
  ['models/opt/odd', 'causal'],
  ['models/gemma3_text/even', 'causal'],
  ['models/bert/even_masked_lm', 'masked'],
  ['models/roberta/even_masked_lm', 'masked'],
  ['models/distilbert/even_masked_lm', 'masked'],
  ['models/modernbert/odd_masked_lm', 'masked'],
  ['models/bart/even', 'seq2seq'],
  ['models/marian/odd', 'seq2seq'],
  ['models/t5/even', 'seq2seq'],
  ['models/whisper/even', 'speech'],
  ['models/vit/even_image_classification', 'image'],
  ['models/deit/even_image_classification', 'image'],
];

const kindOf: Readonly<Record<string, Kind>> = {
  vocab_size: 'size',
  hidden_size: 'size',
  n_embd: 'size',
  dim: 'size',
  d_model: 'size',
  d_ff: 'size',
  d_kv: 'size',
  num_hidden_layers: 'size',
  num_layers: 'size',
  n_layer: 'size',
  n_layers: 'size',
  encoder_layers: 'size',
  decoder_layers: 'size',
  num_attention_heads: 'size',
  num_heads: 'size',
  n_head: 'size',
  n_heads: 'size',
  encoder_attention_heads: 'size',
  decoder_attention_heads: 'size',
  num_key_value_heads: 'size',
  head_dim: 'size',
  intermediate_size: 'size',
  hidden_dim: 'size',
  encoder_ffn_dim: 'size',
  decoder_ffn_dim: 'size',
  max_position_embeddings: 'size',
  n_positions: 'size',
  max_source_positions: 'size',
  max_target_positions: 'size',
  num_mel_bins: 'size',
  num_channels: 'size',
  type_vocab_size: 'size',
  relative_attention_num_buckets: 'size',
  rms_norm_eps: 'epsilon',
  layer_norm_eps: 'epsilon',
  layer_norm_epsilon: 'epsilon',
  norm_eps: 'epsilon',
  rope_theta: 'above',
  tie_word_embeddings: 'flag',
  attention_bias: 'flag',
  mlp_bias: 'flag',
  hidden_act: 'text',
  activation_function: 'text',
  activation: 'text',
  model_type: 'text',
  eos_token_id: 'tokens',
  bos_token_id: 'token',
  architectures: 'texts',
};

/** Wrong types and ranges for the keys of each architecture. */
export function* badConfigs(draw: Draw): Generator<BadFolder> {
  for (const [name, reader] of models) {
    const base = baseOf(name);
    for (const key of Object.keys(jsonOf(base, 'config.json'))) {
      const kind = kindOf[key];
      const unread = key === 'tie_word_embeddings' && name.includes('t5'); // another key decides
      if (kind === undefined || unread) continue;
      for (const value of draw.some<unknown>(wrong[kind], 1)) {
        const title = `${name}: config.json: ${key} ${JSON.stringify(value)}`;
        const words = ['config.json', `"${key}"`, shown(value)];
        yield { title, files: changed(base, 'config.json', { [key]: value }), reader, words };
      }
    }
  }
}

const generation: Readonly<Record<string, Kind>> = {
  max_new_tokens: 'count',
  max_length: 'count',
  min_length: 'count',
  min_new_tokens: 'count',
  do_sample: 'flag',
  num_beams: 'size',
  num_return_sequences: 'size',
  length_penalty: 'number',
  repetition_penalty: 'above',
  encoder_repetition_penalty: 'above',
  no_repeat_ngram_size: 'count',
  encoder_no_repeat_ngram_size: 'count',
  forced_bos_token_id: 'token',
  forced_eos_token_id: 'tokens',
  suppress_tokens: 'tokens',
  begin_suppress_tokens: 'tokens',
  remove_invalid_values: 'flag',
  renormalize_logits: 'flag',
  temperature: 'above',
  top_k: 'count',
  top_p: 'fraction',
  min_p: 'share',
  typical_p: 'fraction',
  epsilon_cutoff: 'share',
  eta_cutoff: 'share',
  eos_token_id: 'tokens',
  pad_token_id: 'padding',
  bos_token_id: 'token',
  decoder_start_token_id: 'token',
  max_time: 'number',
};

export function* badGenerationConfigs(draw: Draw): Generator<BadFolder> {
  const base = baseOf('stories260K');
  const file = 'generation_config.json';
  for (const [key, kind] of Object.entries(generation)) {
    for (const value of draw.some<unknown>(wrong[kind], 2)) {
      const words = [file, `"${key}"`, shown(value)];
      const title = `${file}: ${key} ${JSON.stringify(value)}`;
      yield { title, files: changed(base, file, { [key]: value }), reader: 'causal', words };
    }
  }
  const more: [string, unknown][] = [
    ['bad_words_ids', 3],
    ['bad_words_ids', [3]],
    ['bad_words_ids', [[]]],
    ['bad_words_ids', [[-1]]],
    ['sequence_bias', {}],
    ['sequence_bias', [[1, 2]]],
    ['forced_decoder_ids', [1]],
    ['forced_decoder_ids', [[1, -2]]],
    ['exponential_decay_length_penalty', [1]],
    ['exponential_decay_length_penalty', [1, 'a']],
    ['early_stopping', 'always'],
    ['stop_strings', [3]],
    ['top_h', 0],
    ['penalty_alpha', 0.6],
    ['num_beam_groups', 4],
    ['guidance_scale', 3],
  ];
  for (const [key, value] of more) {
    const title = `${file}: ${key} ${JSON.stringify(value)}`;
    yield { title, files: changed(base, file, { [key]: value }), reader: 'causal', words: [file, `"${key}"`] };
  }
}

/** Values that are valid separately and contradict each other, and texts that are not a JSON object. */
export function* contradictoryConfigs(draw: Draw): Generator<BadFolder> {
  const stories = baseOf('stories260K');
  const pairs: [string, Record<string, unknown>, string[]][] = [
    ['stories260K', { num_attention_heads: 7 }, ['num_key_value_heads', '4', '7']],
    ['stories260K', { num_key_value_heads: 3 }, ['num_key_value_heads', '3', '8']],
    ['stories260K', { head_dim: 7 }, ['head_dim', '7']],
    ['stories260K', { num_hidden_layers: 20000 }, ['num_hidden_layers', '20000']],
    ['stories260K', { hidden_act: 'swish7' }, ['hidden_act', 'swish7']],
    ['stories260K', { model_type: 'mamba' }, ['model_type', 'mamba']],
    [
      'stories260K',
      { rope_parameters: null, rope_scaling: { rope_type: 'spiral', factor: 2 } },
      ['rope_type', 'spiral'],
    ],
    ['stories260K', { rope_parameters: null, rope_scaling: { rope_type: 'linear' } }, ['factor', 'missing']],
    ['stories260K', { rope_parameters: null, rope_scaling: { rope_type: 'linear', factor: -2 } }, ['factor', '-2']],
    ['stories260K', { rope_parameters: null, rope_scaling: { rope_type: 'linear', factor: '2' } }, ['factor', '"2"']],
    ['stories260K', { rope_parameters: null, rope_scaling: 3 }, ['rope_scaling', '3']],
    ['stories260K', { quantization_config: { quant_method: 'gptq' } }, ['quantization_config', 'gptq']],
    ['models/gpt2/even', { n_head: 7 }, ['n_head', '7']],
    ['models/gpt2/even', { activation_function: 'step' }, ['activation_function', 'step']],
    ['models/qwen2/even', { layer_types: ['full_attention'] }, ['layer_types', '1']],
    ['models/qwen3/even', { layer_types: 'full_attention' }, ['layer_types', 'full_attention']],
    ['models/gemma3_text/even', { layer_types: [] }, ['layer_types', 'names 0']],
    ['models/gemma3_text/even', { rope_parameters: 7 }, ['rope_parameters', '7']],
    ['models/gemma3_text/odd', { rope_scaling: 'linear' }, ['rope_scaling', '"linear"']],
    [
      'models/gemma3_text/even',
      { rope_parameters: { full_attention: 'default' } },
      ['rope_parameters', 'hold objects'],
    ],
    ['stories260K', { problem_type: 'multi_label' }, ['problem_type', '"multi_label"']],
    ['models/gemma2/even', { query_pre_attn_scalar: 0 }, ['query_pre_attn_scalar', '0']],
    ['models/gemma2/even', { query_pre_attn_scalar: -4 }, ['query_pre_attn_scalar', '-4']],
    [
      'models/phi/even',
      { rope_parameters: { rope_type: 'default', partial_rotary_factor: 2 } },
      ['partial_rotary_factor', '2'],
    ],
    [
      'models/phi/even',
      { rope_parameters: { rope_type: 'default', partial_rotary_factor: 0 } },
      ['partial_rotary_factor', '0'],
    ],
  ];
  for (const [name, change, words] of pairs) {
    const files = changed(baseOf(name), 'config.json', change);
    yield { title: `${name}: ${JSON.stringify(change)}`, files, reader: 'causal', words: ['config.json', ...words] };
  }
  const texts = [
    '',
    '{',
    '[]',
    '3',
    'null',
    '"text"',
    '{"a":1,"a":2}',
    '<html></html>',
    '{"a":NaN}',
    "{'a':1}",
    '{"a":1}x',
  ];
  for (const file of ['config.json', 'generation_config.json']) {
    for (const text of [...texts, `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`]) {
      const title = `${file}: ${text.slice(0, 20)}`;
      yield { title, files: { ...stories, [file]: bytesOf(text) }, reader: 'causal', words: [file] };
    }
    const bytes = (stories[file] as Uint8Array).slice();
    bytes[2 + draw.below(5)] = 0xff;
    yield {
      title: `${file}: no UTF-8`,
      files: { ...stories, [file]: bytes },
      reader: 'causal',
      words: [file, 'UTF-8'],
    };
  }
}
