// Models of kinds that are not supported: refused by name before any weight is read, with the nearest supported kind; and
// folders that are no model of transformers, which are named.

import { readFileSync } from 'node:fs';
import {
  AutoConfig,
  AutoFeatureExtractor,
  AutoImageProcessor,
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  AutoModelForSequenceClassification,
  AutoModelForSpeechSeq2Seq,
  AutoModelForZeroShotImageClassification,
  AutoProcessor,
  AutoTokenizer,
  inspect,
  pipeline,
  T5EncoderModel,
  Tensor,
  toSafetensors,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { bytesOf } from './corpus/folders.js';
import { folderOf as writtenFolder } from './support/command.js';
import { failureOf } from './support/failures.js';
import { fixturePath, type Reference, readReferences } from './support/references.js';

const folderOf = (model_type: string) => ({ 'config.json': bytesOf(JSON.stringify({ model_type })) });
const messageFor = async (model_type: string): Promise<string> =>
  (await inspect(folderOf(model_type))).problems.find(({ code }) => code === 'unsupported')?.message ?? '';

/** The rows of the table for users: model types, what they need, the nearest supported one. */
const page = readFileSync('web/examples/from_transformers_js.md', 'utf8');
const rows = [...page.matchAll(/^\| (`.*`) \| (.*) \| `(.*)` \|$/gm)].flatMap(([, types = '', needs = '', near = '']) =>
  [...types.matchAll(/`([^`]+)`/g)].map(([, type = '']) => [type, needs, near] as const),
);

it('the table has many rows', () => expect(rows.length).toBeGreaterThan(60));

it.each(rows)('%s needs %s, the nearest is %s', async (type, needs, near) => {
  const message = await messageFor(type);
  const [start, known = ''] = message.split('; supported: ');
  expect(start).toBe(
    `config.json: "model_type" is "${type}": it needs ${needs}; the nearest supported model_type is "${near}"`,
  );
  expect(known.split(', ')).toContain(near);
  expect(known.split(', ')).not.toContain(type);
});

it.each([
  ['gte', 'xlm-roberta'], // snowflake-arctic-embed-m-v2.0
  ['qwen', 'qwen2'],
  ['internlm2', 'llama'],
  ['ctrl', 'gpt2'],
  ['deepseek', 'llama'],
])('%s has no row in the table, and is most like %s', async (type, near) => {
  expect(await messageFor(type)).toContain(`"${type}": it needs`);
  expect(await messageFor(type)).toContain(`the nearest supported model_type is "${near}"`);
});

it('a type that nobody knows has no relatives', async () => {
  expect(await messageFor('brand_new')).toMatch(/"brand_new"; supported: bert, /);
});

it('loading says the same, with its code', async () => {
  const failure = await failureOf(() => AutoModel.from_pretrained(folderOf('mamba')));
  expect([failure.code, failure.message]).toEqual(['unsupported', await messageFor('mamba')]);
});

it.each([
  ['zero-shot-image-classification', AutoModelForZeroShotImageClassification, 'bert/even_base'],
  ['zero-shot-image-classification', AutoModelForZeroShotImageClassification, 'vit/even_base'],
  ['zero-shot-image-classification', AutoModelForZeroShotImageClassification, 'gpt2/even'],
  ['speech-seq2seq', AutoModelForSpeechSeq2Seq, 't5/even'],
  ['speech-seq2seq', AutoModelForSpeechSeq2Seq, 'bart/even'],
  ['seq2seq-lm', AutoModelForSeq2SeqLM, 'whisper/even'],
  [
    'sequence-classification',
    AutoModelForSequenceClassification,
    'audio_spectrogram_transformer/even_sequence_classification',
  ],
] as const)('a class for %s refuses models of other tasks, new ones, too', async (task, auto, name) => {
  const file = readFileSync(fixturePath(`models/${name}/config.json`));
  const config = JSON.parse(file.toString());
  for (const work of [() => auto.from_pretrained({ 'config.json': file }), () => auto.from_config(config)]) {
    expect(await failureOf(work)).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining(`is "${config.model_type}", which has no head for the task ${task}`),
    });
  }
});

it.each([
  ['feature-extraction', 'whisper/even', 'automatic-speech-recognition'],
  ['translation', 'whisper/even', 'automatic-speech-recognition'],
  ['feature-extraction', 'marian/even', 'translation and summarization and text2text-generation'],
  ['sentence-similarity', 'vit/even_base', 'image-feature-extraction'],
  [
    'image-classification',
    'clip/even',
    'zero-shot-image-classification and feature-extraction and sentence-similarity and image-feature-extraction',
  ],
] as const)('a pipeline for %s refuses %s, which takes other inputs', async (task, name, own) => {
  const failure = await failureOf(() => pipeline(task, fixturePath(`models/${name}`)));
  expect(failure).toMatchObject({ code: 'unsupported', details: { option: 'task' } });
  expect(failure.message).toContain(`is for ${own}`);
  expect(failure.message).toContain(`, not for ${task}`);
});

it('Gemma 3, whose class is ForConditionalGeneration, is a decoder and serves each pipeline once', async () => {
  const text_config = JSON.parse(readFileSync(fixturePath('models/gemma3_text/even/config.json'), 'utf8'));
  const named = { model_type: 'gemma3', architectures: ['Gemma3ForConditionalGeneration'] };
  const folder = { 'config.json': bytesOf(JSON.stringify({ ...named, text_config })) };
  const { task, pipelines } = await inspect(folder);
  expect([task, pipelines]).toEqual(['causal-lm', ['feature-extraction', 'sentence-similarity', 'text-generation']]);
  expect(await failureOf(() => AutoModelForSeq2SeqLM.from_pretrained(folder))).toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('which has no head for the task seq2seq-lm'),
  });
});

it('no other decoder has that class', async () => {
  const config = JSON.parse(readFileSync(fixturePath('models/gpt2/even/config.json'), 'utf8'));
  const named = { ...config, architectures: ['GPT2ForConditionalGeneration'] };
  const { problems } = await inspect({ 'config.json': bytesOf(JSON.stringify(named)) });
  const message = 'config.json: "model_type" is "gpt2", which has no head for the task seq2seq-lm';
  expect(problems).toContainEqual(expect.objectContaining({ code: 'unsupported', message }));
});

describe('an encoder of T5 without its decoder', () => {
  const folder = fixturePath('models/t5/even_encoder');

  it('serves the pipelines of encoders, no others', async () => {
    const { kind, pipelines, valid } = await inspect(folder);
    expect([kind, pipelines, valid]).toEqual(['encoder-only', ['feature-extraction', 'sentence-similarity'], true]);
    const named = { code: 'unsupported', message: expect.stringContaining('T5EncoderModel') };
    expect(await failureOf(() => pipeline('translation', folder))).toMatchObject(named);
    expect(await failureOf(() => AutoModelForSeq2SeqLM.from_pretrained(folder))).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('no head for the task seq2seq-lm'),
    });
  });

  it('is what T5EncoderModel loads and makes, and no whole model', async () => {
    const whole = fixturePath('models/t5/even');
    expect(await failureOf(() => T5EncoderModel.from_pretrained(whole))).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('of T5ForConditionalGeneration, with a decoder: AutoModel loads both'),
    });
    const { architectures, ...config } = JSON.parse(readFileSync(`${whole}/config.json`, 'utf8'));
    await using fresh = await T5EncoderModel.from_config(config);
    await using model = await T5EncoderModel.from_pretrained(folder);
    for (const { cfg } of [fresh, model]) expect(cfg.kind).toBe('encoder-only');
  });

  it('has one table of words under either name, and leaves a decoder in the file unread', async () => {
    const config = readFileSync(`${folder}/config.json`);
    const vectors = async (tensors: Iterable<[string, Reference]>) => {
      const stored = [...tensors].map(([name, { data, dims }]) => [
        name,
        new Tensor('float32', data as Float32Array, dims),
      ]);
      const weights = toSafetensors(Object.fromEntries(stored));
      await using model = await AutoModel.from_pretrained({ 'config.json': config, 'model.safetensors': weights });
      return (await model({ input_ids: [[5, 6, 7]] })).last_hidden_state?.data;
    };
    const tensors = [...readReferences(`${folder}/model.safetensors`)];
    const without = (table: string) => tensors.filter(([name]) => name !== table);
    const both = await vectors(tensors);
    expect(await vectors(without('shared.weight'))).toEqual(both);
    const whole = readReferences(fixturePath('models/t5/even/model.safetensors'));
    const decoder = [...whole].filter(([name]) => name.startsWith('decoder.'));
    expect(await vectors([...without('encoder.embed_tokens.weight'), ...decoder])).toEqual(both);
  });
});

it('a folder of GLiNER is named', async () => {
  const folder = {
    'gliner_config.json': bytesOf('{"model_name": "microsoft/deberta-v3-small"}'),
    'pytorch_model.bin': bytesOf(''),
  };
  const failure = await failureOf(() => AutoModel.from_pretrained(folder));
  expect(failure).toMatchObject({ code: 'unsupported', details: { file: 'gliner_config.json' } });
  expect(failure.message).toMatch(/GLiNER.*token-classification.*zero-shot-classification/);
  const { problems, valid } = await inspect(folder);
  expect([valid, problems.find(({ file }) => file === 'gliner_config.json')?.message]).toEqual([
    false,
    failure.message,
  ]);
  expect(await failureOf(() => AutoModel.from_pretrained({}))).toMatchObject({ code: 'file_not_found' });
});

const adapter = bytesOf('{"peft_type": "LORA", "base_model_name_or_path": "google/gemma-2b"}');
const empty = new Uint8Array(8);
const bert = bytesOf('{"tokenizer_class": "BertTokenizer"}');
const pointer = bytesOf(`version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 1234567\n`);
const weights = toSafetensors({ weight: new Tensor('float32', new Float32Array(1), [1]) });
const stories = readFileSync('web/demo/public/models/stories260K/config.json');
const [ofLlama, ofTimm, ofKeras, ofConverter] = [
  '{"model_type": "llama"}',
  '{"architecture": "vit_base_patch16_224", "num_classes": 1000, "pretrained_cfg": {}}',
  '{"module": "keras_hub.src.models.gemma", "registered_name": "keras_hub>GemmaBackbone", "config": {}}',
  '{"add_source_bos": false, "unk_token": "<unk>"}',
].map(bytesOf) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];

/** Folders that are no model of transformers, as they are found on the Hub. */
const strangers: Readonly<Record<string, { files: Record<string, Uint8Array>; code: string; words: RegExp }>> = {
  'an adapter': {
    files: { 'adapter_config.json': adapter, 'adapter_model.safetensors': empty, 'README.md': empty },
    code: 'unsupported',
    words: /adapter_config\.json.*load google\/gemma-2b, and then.*load_adapter/,
  },
  'an adapter that names no model': {
    files: { 'adapter_config.json': bytesOf('{"base_model_name_or_path": null}'), 'adapter_model.bin': empty },
    code: 'unsupported',
    words: /load its base model, and then.*load_adapter/,
  },
  'files of llama.cpp': { files: { 'm-Q4_K_M.gguf': empty }, code: 'unsupported', words: /m-Q4_K_M\.gguf.*GGUF/ },
  'a pipeline of diffusers': {
    files: { 'model_index.json': bytesOf('{}'), 'unet/config.json': bytesOf('{}') },
    code: 'unsupported',
    words: /model_index\.json.*diffusers/,
  },
  'a model of OpenCLIP': {
    files: { 'open_clip_config.json': bytesOf('{}'), 'open_clip_model.safetensors': empty },
    code: 'unsupported',
    words: /OpenCLIP.*CLIP or SigLIP/,
  },
  'a checkpoint in the format of its authors': {
    files: { 'params.json': bytesOf('{"dim": 64}'), 'consolidated.safetensors': empty },
    code: 'unsupported',
    words: /params\.json.*the authors' own format/,
  },
  'a model of timm': {
    files: { 'config.json': ofTimm, 'model.safetensors': weights },
    code: 'malformed_config',
    words: /"model_type" is missing: this is timm's/,
  },
  'a model of KerasHub': {
    files: { 'config.json': ofKeras, 'model.safetensors': weights },
    code: 'malformed_config',
    words: /"model_type" is missing: this is KerasHub's/,
  },
  'a model of CTranslate2': {
    files: { 'config.json': ofConverter, 'model.safetensors': weights },
    code: 'malformed_config',
    words: /"model_type" is missing: this is CTranslate2's/,
  },
  'weights of CTranslate2': {
    files: { 'config.json': stories, 'model.bin': empty },
    code: 'unsupported',
    words: /model\.bin.*CTranslate2.*load the checkpoint it was made from/,
  },
  'an old folder of sentence-transformers': {
    files: { 'modules.json': bytesOf('[]'), '0_Transformer/config.json': ofLlama },
    code: 'file_not_found',
    words: /config\.json is not in .*, but in its folder 0_Transformer: load that one/,
  },
  'a folder of checkpoints': {
    files: { 'checkpoint-100/config.json': ofLlama, 'checkpoint-50/config.json': ofLlama, 'runs/events.out': empty },
    code: 'file_not_found',
    words: /but in its folder checkpoint-100, checkpoint-50: load that one/,
  },
  "a model's folder in the cache of huggingface_hub": {
    files: { 'refs/main': bytesOf('abc123'), 'snapshots/abc123/config.json': ofLlama },
    code: 'file_not_found',
    words: /but in its folder snapshots\/abc123: load that one/,
  },
  'a clone without the files of Git LFS': {
    files: { 'config.json': stories, 'model.safetensors': pointer },
    code: 'malformed_file',
    words: /model\.safetensors: this is a pointer of Git LFS: 'git lfs pull' downloads the file/,
  },
  'weights under another name': {
    files: { 'config.json': stories, 'model.fp16.safetensors': empty },
    code: 'file_not_found',
    words: /neither model\.safetensors .* may be in model\.fp16\.safetensors: rename it/,
  },
};

describe.each(Object.entries(strangers))('%s', (_, { files, code, words }) => {
  // The listing of a folder on this machine names no files of its folders.
  it.each(['given', 'on disk'])('is named by whatever reads it, %s', async (place) => {
    const source = place === 'given' ? files : writtenFolder(undefined, files);
    for (const read of [
      () => AutoModelForCausalLM.from_pretrained(source),
      () => pipeline('text-generation', source),
      () => pipeline(undefined, source),
    ]) {
      const failure = await failureOf(read);
      expect(failure.message).toMatch(words);
      expect(failure.code).toBe(code);
    }
    const { problems, valid } = await inspect(source);
    expect(valid).toBe(false);
    expect(problems.filter(({ message }) => words.test(message)).map((problem) => problem.code)).toEqual([code]);
  });
});

it.each(['tokenizer.json', 'tokenizer_config.json', 'vocab.txt'])('%s that is a pointer of Git LFS', async (file) => {
  const source = { 'vocab.txt': bytesOf('[UNK]'), 'tokenizer_config.json': bert, [file]: pointer };
  const failure = await failureOf(() => AutoTokenizer.from_pretrained(source));
  expect(failure).toMatchObject({ code: 'malformed_config', details: { file } });
  expect(failure.message).toMatch(/^\S+ is a pointer of Git LFS: 'git lfs pull' downloads the file/);
});

it('what is in the way of a model that could be loaded is told as before', async () => {
  const nothing = await failureOf(() => pipeline('text-generation', { 'README.md': empty }));
  expect(nothing).toMatchObject({ code: 'file_not_found', message: expect.stringContaining('nothing of a model') });
  const broken = { 'adapter_config.json': bytesOf('{'), 'adapter_model.safetensors': empty };
  const failure = await failureOf(() => AutoModel.from_pretrained(broken));
  expect(failure).toMatchObject({ code: 'file_not_found', details: { file: 'config.json' } });
  const ofTokenizer = await failureOf(() => AutoTokenizer.from_pretrained(broken));
  expect(ofTokenizer).toMatchObject({ code: 'file_not_found', details: { file: 'tokenizer.json' } });
  const signal = AbortSignal.abort('no');
  await expect(AutoModel.from_pretrained(broken, { signal })).rejects.toBe('no');
});

describe('the tokenizer and the processors of a folder whose model is not read are refused in the same words', () => {
  const text = bytesOf('{"model_type": "llama", "base_model_name_or_path": "a/b"}');
  it.each<[string, Record<string, Uint8Array>]>([
    ['GGUF', { 'model.gguf': text }],
    ['GGUF with config.json', { 'model.gguf': text, 'config.json': text }],
    ['an adapter', { 'adapter_config.json': text, 'adapter_model.safetensors': text }],
    ['ONNX', { 'onnx/model.onnx': text, 'config.json': text }],
    ['PyTorch', { 'pytorch_model.bin': text, 'config.json': text }],
    ['diffusers', { 'model_index.json': text }],
    ['a model in a folder within', { 'within/config.json': text }],
  ])('%s', async (_, files) => {
    const { code, message, details } = await failureOf(() => AutoModel.from_pretrained(files));
    const others = [AutoTokenizer, AutoProcessor, AutoImageProcessor, AutoFeatureExtractor];
    for (const { from_pretrained } of 'config.json' in files ? others : [...others, AutoConfig]) {
      expect(await failureOf(() => from_pretrained(files))).toMatchObject({ code, message, details });
    }
    expect(message).not.toContain('tokenizer.json');
  });

  it.each<[string, Record<string, Uint8Array>]>([
    ['weights that are read', { 'model.safetensors': text, 'model.gguf': text, 'config.json': text }],
    ['nothing else', {}],
  ])('but not beside %s', async (_, files) => {
    const failure = await failureOf(() => AutoTokenizer.from_pretrained({ 'README.md': text, ...files }));
    expect(failure).toMatchObject({ code: 'file_not_found', details: { file: 'tokenizer.json' } });
    const ofImages = await failureOf(() => AutoImageProcessor.from_pretrained({ 'README.md': text, ...files }));
    expect(ofImages).toMatchObject({ code: 'file_not_found', details: { file: 'preprocessor_config.json' } });
  });
});
