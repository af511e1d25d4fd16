// Invalid files besides the model: tokenizers, processors, sentence-transformers, templates.

import type { Files } from '../support/checkpoints.js';
import { type BadFolder, baseOf, bytesOf, changed, type Draw, type Kind, type Reader, wrong } from './folders.js';

type Json = Record<string, unknown>;

const rulesOf: Readonly<Record<string, Readonly<Record<string, Kind | 'role' | 'side' | 'id'>>>> = {
  'tokenizer_config.json': {
    bos_token: 'role',
    eos_token: 'role',
    unk_token: 'role',
    pad_token: 'role',
    cls_token: 'role',
    sep_token: 'role',
    mask_token: 'role',
    padding_side: 'side',
    truncation_side: 'side',
    model_max_length: 'above',
    tokenizer_class: 'text',
    model_input_names: 'texts',
    add_prefix_space: 'flag',
    do_lower_case: 'flag',
    clean_up_tokenization_spaces: 'flag',
    strip_accents: 'flag',
    tokenize_chinese_chars: 'flag',
    pad_token_type_id: 'id',
  },
  'special_tokens_map.json': { bos_token: 'role', eos_token: 'role', unk_token: 'role', pad_token: 'role' },
};
const values = {
  ...wrong,
  role: [3, true, [], {}, { content: 3 }, { token: '<s>' }],
  side: ['top', '', 3, true, [], {}],
  id: [-1, 65.5, '65', true, 2 ** 53, [], {}],
};

/** Small files, key by key. The error for an invalid value names its key and, if it is simple, the value. */
export function* badSmallFiles(draw: Draw): Generator<BadFolder> {
  for (const [file, keys] of Object.entries(rulesOf)) {
    const { 'tokenizer_config.json': config, ...bare } = baseOf('stories260K');
    const base = file === 'tokenizer_config.json' ? { ...bare, [file]: config as Uint8Array } : bare;
    for (const [key, kind] of Object.entries(keys)) {
      for (const value of draw.some<unknown>(values[kind], 2)) {
        const title = `${file}: ${key} ${JSON.stringify(value)}`;
        const words = [file, key, JSON.stringify(value)];
        yield { title, files: changed(base, file, { [key]: value }), reader: 'tokenizer', words };
      }
    }
  }
  const base = baseOf('stories260K');
  const file = 'tokenizer_config.json';
  for (const chat_template of [3, true, {}, [3], [{ name: 'a' }], [{ name: 3, template: 'a' }]])
    yield {
      title: `chat_template ${JSON.stringify(chat_template)}`,
      files: changed(base, file, { chat_template }),
      reader: 'tokenizer',
      words: [file, 'chat_template', JSON.stringify(chat_template)],
    };
  for (const added_tokens_decoder of [
    { 3: { content: 5 } },
    { 3: 'a' },
    { x: { content: 'a' } },
    [{ content: 'a' }],
    { 3: { content: 'a', special: 'yes' } },
    { 3: { content: 'a', lstrip: 1 } },
    'all',
  ])
    yield {
      title: `added_tokens_decoder ${JSON.stringify(added_tokens_decoder)}`,
      files: changed(base, file, { added_tokens_decoder }),
      reader: 'tokenizer',
      words: [file, 'added_tokens_decoder'],
    };
  yield {
    title: 'a maximum below one token',
    files: changed(base, file, { model_max_length: 0.5 }),
    reader: 'tokenizer',
    words: [file, 'model_max_length', '0.5'],
  };
  const deep = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`;
  yield {
    title: 'a deep config',
    files: { ...base, [file]: bytesOf(deep) },
    reader: 'tokenizer',
    words: [file, 'nested'],
  };
  for (const name of ['tokenizer.json', file])
    for (const text of ['', '{', '[]', '3', 'null', '<html>', "{'a':1}"])
      yield {
        title: `${name}: ${text}`,
        files: { ...base, [name]: bytesOf(text) },
        reader: 'tokenizer',
        words: [name],
      };
}

/** preprocessor_config.json for images and audio. */
export function* badProcessors(): Generator<BadFolder> {
  const file = 'preprocessor_config.json';
  const cases: [Reader, string, unknown][] = [
    ...(['do_resize', 'do_rescale', 'do_normalize', 'do_center_crop', 'do_convert_rgb'] as const).map(
      (key): [Reader, string, unknown] => ['picture', key, 1],
    ),
    ...[-1, 0, 1.5, '224', {}, { height: 3 }, [1], [1, 0], 1e9, { height: 1e9, width: 1e9 }].map(
      (value): [Reader, string, unknown] => ['picture', 'size', value],
    ),
    ...[6, -1, '2', 1.5].map((value): [Reader, string, unknown] => ['picture', 'resample', value]),
    ...['x', [], [1, 2], ['a', 'b', 'c']].map((value): [Reader, string, unknown] => ['picture', 'image_mean', value]),
    ...[0, [1, 0, 1], 'x'].map((value): [Reader, string, unknown] => ['picture', 'image_std', value]),
    ['picture', 'rescale_factor', '1'],
    ['picture', 'image_processor_type', 'DetrImageProcessor'],
    ['picture', 'do_pad', true],
    ...(['feature_size', 'sampling_rate', 'hop_length', 'chunk_length', 'n_fft'] as const).flatMap((key) =>
      [0, -1, 1.5, '80', 1e9].map((value): [Reader, string, unknown] => ['sound', key, value]),
    ),
    ['sound', 'padding_value', 'x'],
    ['sound', 'return_attention_mask', 3],
    ['sound', 'feature_extractor_type', 'ClapFeatureExtractor'],
    ['sound', 'dither', 0.5],
  ];
  const bases = {
    picture: { image_processor_type: 'ViTImageProcessor', do_center_crop: false },
    sound: { feature_extractor_type: 'WhisperFeatureExtractor' },
  };
  for (const [reader, key, value] of cases) {
    const files = { [file]: bytesOf(JSON.stringify({ ...bases[reader as 'sound'], [key]: value })) };
    yield { title: `${file}: ${key} ${JSON.stringify(value)}`, files, reader, words: [file, key] };
  }
  for (const reader of ['picture', 'sound'] as const)
    for (const text of ['', '[]', '{', '<html>'])
      yield { title: `${reader} ${file}: ${text}`, files: { [file]: bytesOf(text) }, reader, words: [file] };
}

/** sentence-transformers' files. */
export function* badEmbeddings(): Generator<BadFolder> {
  const base: Files = {
    ...baseOf('models/sentence_transformers/mean_normalized'),
    'tokenizer.json': baseOf('gpt-nano-sort')['tokenizer.json'] as Uint8Array,
  };
  const list = 'modules.json';
  const pooling = '1_Pooling/config.json';
  const modules = (value: unknown) => ({
    ...base,
    [list]: bytesOf(typeof value === 'string' ? value : JSON.stringify(value)),
  });
  const step = (change: Json) => [
    { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer', ...change },
  ];
  for (const value of ['', '{', '{}', '3'])
    yield { title: `${list}: ${value}`, files: modules(value), reader: 'embedding', words: [list] };
  for (const entry of [3, null, 'a', [], {}, { type: 3 }, { path: 'x' }])
    yield {
      title: `${list}: the step ${JSON.stringify(entry)}`,
      files: modules([entry]),
      reader: 'embedding',
      words: [list, JSON.stringify(entry)],
    };
  for (const path of [3, '../x', '/x', 'a/../b', 'a//b', 'a\\b'])
    yield {
      title: `${list}: the path ${path}`,
      files: modules(step({ path })),
      reader: 'embedding',
      words: [list, JSON.stringify(path).slice(1, -1)],
    };
  yield {
    title: `${list}: an unknown step`,
    files: modules(step({ type: 'sentence_transformers.models.LSTM' })),
    reader: 'embedding',
    words: [list, 'LSTM'],
  };
  for (const [key, value] of [
    ['pooling_mode_mean_tokens', 'yes'],
    ['pooling_mode_cls_token', 1],
    ['pooling_mode_max_tokens', null],
    ['word_embedding_dimension', -1],
    ['word_embedding_dimension', '32'],
    ['pooling_mode', 'sum'],
    ['pooling_mode', 3],
  ] as const) {
    if (value === null) continue;
    yield {
      title: `${pooling}: ${key} ${value}`,
      files: changed(base, pooling, { [key]: value }),
      reader: 'embedding',
      words: [pooling, key.replace('pooling_mode_', 'pooling_mode')].slice(0, 1),
    };
  }
  const { [pooling]: _, ...without } = base;
  yield { title: `no ${pooling}`, files: without, reader: 'embedding', words: [pooling] };
  for (const [key, value] of [
    ['max_seq_length', -1],
    ['max_seq_length', '128'],
    ['max_seq_length', 1.5],
    ['do_lower_case', 'yes'],
  ] as const) {
    const name = 'sentence_bert_config.json';
    yield {
      title: `${name}: ${key} ${value}`,
      files: changed(base, name, { [key]: value }),
      reader: 'embedding',
      words: [name, key, JSON.stringify(value)],
    };
  }
  const prompts = 'config_sentence_transformers.json';
  for (const change of [
    { prompts: 3 },
    { prompts: { query: 3 } },
    { default_prompt_name: 3 },
    { default_prompt_name: 'none', prompts: {} },
    { similarity_fn_name: 'angle' },
  ])
    yield {
      title: `${prompts}: ${JSON.stringify(change)}`,
      files: changed(base, prompts, change),
      reader: 'validate',
      words: [prompts, Object.keys(change)[0] as string],
    };
  for (const [name, text] of [
    ['chat_template.jinja', '{% for x in %}'],
    ['chat_template.jinja', '{{ a'],
    ['additional_chat_templates/tool_use.jinja', '{{ a'],
  ] as const)
    yield {
      title: `${name}: ${text}`,
      files: { ...baseOf('stories260K'), [name]: bytesOf(text) },
      reader: 'validate',
      words: [name],
    };
  const file = 'tokenizer_config.json';
  yield {
    title: 'a template that is none',
    files: changed(baseOf('stories260K'), file, { chat_template: '{% if %}' }),
    reader: 'validate',
    words: [file, 'chat_template'],
  };
}
