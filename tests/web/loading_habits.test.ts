// Code written for transformers.js around a model: env, loading options, AutoConfig, AutoProcessor, classes by name,
// chat templates as methods; and the errors for what is missing.

import { readFileSync } from 'node:fs';
import {
  AutoConfig,
  AutoFeatureExtractor,
  AutoImageProcessor,
  AutoModel,
  AutoModelForCausalLM,
  AutoProcessor,
  AutoTokenizer,
  BertModel,
  configure,
  env,
  GPT2LMHeadModel,
  LlamaForCausalLM,
  log_softmax,
  PreTrainedTokenizer,
  type ProgressInfo,
  pipeline,
  RawImage,
  softmax,
  Tensor,
  ViTForImageClassification,
} from 'clearformer';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';

type Any = Record<string, never>;
const models = new URL('../../web/demo/public/models/', import.meta.url);
const vit = new URL('vit-mnist', models);

describe('options of loading', () => {
  it('that are no object with members, such as a Map, are refused, like those of calls', async () => {
    const options = new Map([['dtype', 'fp16']]) as unknown as Any;
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
    const calls = [
      () => AutoModelForCausalLM.from_pretrained(storiesPath, options),
      () => AutoTokenizer.from_pretrained(storiesPath, options),
      () => pipeline('text-generation', storiesPath, options),
      () => model.generate({ input_ids: [[1]] }, options),
    ];
    for (const call of calls) {
      const { code, message } = await failureOf(call as () => Promise<unknown>);
      expect([code, message]).toEqual([
        'invalid_argument',
        expect.stringMatching(/: needs an object .*, got an object of type Map$/),
      ]);
    }
    await model.dispose();
  });

  it.each<[Any, RegExp]>([
    [{ device: 'webgpu' } as unknown as Any, /device: 'webgpu' is not supported: .*numThreads/],
    [{ dtype: 'q4f16' } as unknown as Any, /dtype: 'q4f16' is not supported: use dtype: 'q4'/],
    [{ dtype: 'int8' } as unknown as Any, /use dtype: 'q8'/],
    [{ dtype: { encoder_model: 'fp32' } } as unknown as Any, /use one of 'fp32', 'fp16', 'q8', 'q4' for all files/],
    [{ model_file_name: 'decoder_model_merged' } as unknown as Any, /model_file_name.*model\.safetensors/],
    [{ subfolder: 'onnx' } as unknown as Any, /subfolder.*name the folder in the source/],
    [{ session_options: {} } as unknown as Any, /session_options.*no ONNX session/],
    [{ use_external_data_format: true } as unknown as Any, /use_external_data_format.*safetensors/],
    [{ config: {} } as unknown as Any, /config.*as the source/],
    [{ quantized: 'yes' } as unknown as Any, /quantized.*dtype/],
    [{ dtype: 'fp8' } as unknown as Any, /dtype: 'fp8' is not supported/],
    [{ devise: 'wasm' } as unknown as Any, /unknown option 'devise'/],
  ])('%j is refused with what to use', async (options, message) => {
    const calls = [
      () => AutoModelForCausalLM.from_pretrained(storiesPath, options),
      () => LlamaForCausalLM.from_pretrained(storiesPath, options),
      () => pipeline('text-generation', storiesPath, options),
    ];
    if (!('dtype' in options)) {
      calls.push(() => AutoTokenizer.from_pretrained(storiesPath, options) as never);
      calls.push(() => AutoImageProcessor.from_pretrained(vit, options) as never);
      calls.push(() => AutoFeatureExtractor.from_pretrained(vit, options) as never);
      calls.push(() => AutoProcessor.from_pretrained(vit, options) as never);
      calls.push(() => AutoConfig.from_pretrained(vit, options) as never);
    }
    for (const call of calls) {
      const failure = await failureOf(call);
      expect([failure.name, failure.code]).toEqual(['ClearformerError', 'unsupported']);
      expect(failure.message).toMatch(message);
    }
  });

  it.each<[Any, string]>([
    [{ device: 'wasm' } as unknown as Any, 'fp32'],
    [{ device: null, subfolder: '', model_file_name: null, use_external_data_format: false } as unknown as Any, 'fp32'],
    [{ dtype: 'auto' } as unknown as Any, 'fp32'],
    [{ quantized: true, deterministic: true } as unknown as Any, 'q8'],
    [{ quantized: false } as unknown as Any, 'fp32'],
    [{ quantized: true, dtype: 'q4', deterministic: true } as unknown as Any, 'q4'],
  ])('%j means %s', async (options, dtype) => {
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath, options);
    expect(model.dtype).toBe(dtype);
    await model.dispose();
  });
});

describe('null, the default of most options there, is as not given', () => {
  const nulls = (...names: string[]) => Object.fromEntries(names.map((name) => [name, null])) as object;
  const files = nulls('progress_callback', 'config', 'cache', 'cache_dir', 'revision', 'local_files_only', 'token');

  it('in loading', async () => {
    const more = nulls('signal', 'integrity', 'device', 'dtype', 'cache_dtype', 'remote_host', 'worker', 'numThreads');
    const write = await pipeline('text-generation', storiesPath, { ...files, ...more });
    const { dtype, cache_dtype } = write.model.info();
    expect([dtype, cache_dtype]).toEqual(['fp32', 'fp32']);
    await write.dispose();
    for (const each of [AutoTokenizer, AutoProcessor, AutoConfig])
      expect(await each.from_pretrained(storiesPath, { ...files, ...nulls('signal') })).toBeDefined();
  });

  it('in calls', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(storiesPath);
    const inputs = tokenizer('Once upon');
    const sides = nulls('padding_side', 'truncation_side', 'pad_to_multiple_of', 'stride');
    const given = { ...sides, ...nulls('text_pair', 'padding', 'truncation', 'max_length', 'return_tensor') };
    expect(tokenizer('Once upon', given)).toEqual(inputs);
    expect(await tokenizer.paced('Once upon', { ...given, ...nulls('signal') })).toEqual(inputs);
    expect(tokenizer.encode('Once upon', nulls('text_pair'))).toEqual(tokenizer.encode('Once upon'));
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
    expect(await model(inputs, nulls('signal'))).toEqual(await model(inputs));
    const ids = await model.generate(inputs, { max_new_tokens: 2, ...nulls('signal', 'streamer') });
    expect(ids).toEqual(await model.generate(inputs, { max_new_tokens: 2 }));
    await model.dispose();
  });

  it('in configure', async () => {
    configure(nulls('onWarning', 'fetch'));
    const logged = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
    await model.generate({ input_ids: [[1]], max_length: 9, max_new_tokens: 1 });
    expect(logged).toHaveBeenCalledWith(expect.stringContaining('max_length has no effect'));
    logged.mockRestore();
    configure({ onWarning: undefined, fetch: undefined });
    await model.dispose();
  });
});

describe('progress_callback', () => {
  it.each([
    ['AutoProcessor', AutoProcessor, storiesPath, ['tokenizer.json', 'tokenizer_config.json']],
    ['AutoConfig', AutoConfig, storiesPath, ['config.json']],
    ['AutoImageProcessor', AutoImageProcessor, vit, ['preprocessor_config.json']],
    ['AutoProcessor of images', AutoProcessor, vit, ['preprocessor_config.json']],
  ] as const)('of %s is told of the files that are read', async (_, loader, source, files) => {
    const events: ProgressInfo[] = [];
    await loader.from_pretrained(source, { progress_callback: (event) => void events.push(event) });
    const of = (status: string) => events.filter((event) => event.status === status).map(({ file }) => file);
    for (const status of ['initiate', 'progress', 'done'])
      expect(of(status).sort()).toEqual(expect.arrayContaining([...files]));
    const { status, loaded, total, progress } = events.at(-1) as ProgressInfo;
    expect([status, loaded > 0, loaded, progress]).toEqual(['ready', true, total, 100]);
  });
});

it('formats of weights are nothing to a tokenizer', async () => {
  const quantized = { quantized: true, device: 'wasm' } as object;
  expect((await AutoTokenizer.from_pretrained(storiesPath, quantized)).bos_token).toBe('<s>');
});

describe('classes', () => {
  it('by name take their own architecture alone', async () => {
    const model = await LlamaForCausalLM.from_pretrained(storiesPath);
    expect((await model.generate({ input_ids: [1n], max_new_tokens: 2 })).dims).toEqual([1, 3]);
    await model.dispose();
    for (const call of [
      () => GPT2LMHeadModel.from_pretrained(storiesPath),
      () => BertModel.from_pretrained(storiesPath),
      () => ViTForImageClassification.from_pretrained(storiesPath),
    ]) {
      const failure = await failureOf(call as () => Promise<unknown>);
      expect([failure.code, failure.message]).toEqual(['unsupported', expect.stringContaining("is 'llama', not '")]);
    }
  });

  it('AutoConfig reads config.json', async () => {
    const config = await AutoConfig.from_pretrained(storiesPath);
    expect(config).toEqual(JSON.parse(readFileSync(`${storiesPath}/config.json`, 'utf8')));
    expect((await failureOf(() => AutoConfig.from_pretrained({ 'a.txt': new Uint8Array(1) }))).code).toBe(
      'file_not_found',
    );
  });

  it('AutoProcessor is what stands before a model', async () => {
    const image = new RawImage(new Uint8Array(28 * 28).fill(7), 28, 28, 1);
    const processor = await AutoProcessor.from_pretrained(vit);
    expect([processor.tokenizer, processor.feature_extractor]).toEqual([undefined, undefined]);
    const own = await AutoImageProcessor.from_pretrained(vit);
    expect((await processor(image)).pixel_values).toEqual((await own(image)).pixel_values);
    expect((await failureOf(() => processor.decode([1]))).code).toBe('unsupported');
    const text = await AutoProcessor.from_pretrained(storiesPath);
    expect(text.decode(text.tokenizer?.encode('Once') ?? [], { skip_special_tokens: true })).toBe('Once');
    expect(text.batch_decode([[1]], { skip_special_tokens: true })).toEqual(['']);
    expect((await failureOf(() => text('Once upon a time'))).message).toContain('processor.tokenizer');
    expect((await failureOf(() => AutoProcessor.from_pretrained({}))).code).toBe('file_not_found');
  });

  it('AutoProcessor of a folder for sound has a feature extractor', async () => {
    const config = { feature_extractor_type: 'WhisperFeatureExtractor', feature_size: 80, sampling_rate: 16000 };
    const files = { 'preprocessor_config.json': new TextEncoder().encode(JSON.stringify(config)) };
    const processor = await AutoProcessor.from_pretrained(files);
    expect(processor.image_processor).toBeUndefined();
    const { input_features } = await processor(new Float32Array(16000));
    expect(input_features.dims).toEqual([1, 80, 3000]);
  });

  it.each(['dither', 'preemphasis'])(
    'AutoProcessor names an option that a feature extractor has not: %s',
    async (option) => {
      const config = { feature_extractor_type: 'WhisperFeatureExtractor', [option]: 0.1 };
      const files = { 'preprocessor_config.json': new TextEncoder().encode(JSON.stringify(config)) };
      const failure = await failureOf(() => AutoProcessor.from_pretrained(files));
      expect(failure).toMatchObject({ code: 'unsupported', details: { option } });
    },
  );
});

describe('Xenova and onnx-community', () => {
  it.each(['Xenova/all-MiniLM-L6-v2', 'onnx-community/all-MiniLM-L6-v2'])('%s is told to be an export', async (id) => {
    const config = { model_type: 'bert', _name_or_path: 'sentence-transformers/all-MiniLM-L6-v2' };
    const files: Record<string, string> = { 'config.json': JSON.stringify(config), 'onnx/model.onnx': 'onnx' };
    const fetch = async (url: string | URL | Request) => {
      const text = files[String(url instanceof Request ? url.url : url).split('/resolve/main/')[1] ?? ''];
      return text === undefined ? new Response('', { status: 404 }) : new Response(text);
    };
    configure({ fetch: fetch as typeof globalThis.fetch });
    try {
      const failure = await failureOf(() => AutoModel.from_pretrained(id, { cache: 'none' }));
      expect(failure.message).toMatch(/ONNX.*transformers\.js.*sentence-transformers\/all-MiniLM-L6-v2/);
      expect(failure.code).toBe('unsupported');
    } finally {
      configure({ fetch: undefined });
    }
  });
});

describe('env', () => {
  const wasm = (env.backends as { onnx: { wasm: Record<string, unknown> } }).onnx.wasm;
  afterEach(() => configure({ remoteHost: undefined, numThreads: undefined, wasmUrl: undefined, fetch: undefined }));

  it('has the declarations of what may be set', () => {
    env.backends.onnx.wasm.numThreads = 2;
    const threads: number | 'auto' | undefined = env.backends.onnx.wasm.numThreads;
    expect(threads).toBe(2);
  });

  it('sets what configure() sets', async () => {
    env.remoteHost = 'https://models.example/';
    env.fetch = async (url: string) => new Response('', { status: 404, headers: { told: url } });
    const failure = await failureOf(() => AutoConfig.from_pretrained('org/name', { cache: 'none' }));
    expect(failure.message).toContain('https://models.example/org/name/resolve/main/');
    wasm.numThreads = 1;
    wasm.wasmPaths = 'https://cdn.example/';
    expect([env.remoteHost, wasm.numThreads, wasm.wasmPaths]).toEqual([
      'https://models.example/',
      1,
      'https://cdn.example/',
    ]);
  });

  it.each(
    Object.entries({
      allowRemoteModels: true,
      allowLocalModels: false,
      useBrowserCache: true,
      cacheDir: null,
      customCache: null,
    }),
  )('%s may be %j, as it is', (name, value) => {
    env[name] = value;
  });

  it.each<[string, unknown, RegExp]>([
    ['allowRemoteModels', false, /local_files_only/],
    ['localModelPath', '/models/', /as the source/],
    ['remotePathTemplate', '{model}/', /by their URL/],
    ['useBrowserCache', false, /cache: 'none'/],
    ['cacheDir', './.cache', /cache_dir/],
    ['customCache', {}, /option cache/],
    ['logLevel', 10, /onWarning/],
    ['remotehost', 'x', /not known \(known: remoteHost/],
    ['backends', {}, /set its properties/],
  ])('%s = %j is refused with what to use', async (name, value, message) => {
    const failure = await failureOf(() => {
      env[name] = value;
    });
    expect([failure.code, failure.message]).toEqual(['unsupported', expect.stringMatching(message)]);
  });

  it('refuses what ONNX has and this has not', async () => {
    for (const [name, value] of Object.entries({ proxy: 1, simd: false, trace: true })) {
      const failure = await failureOf(() => {
        wasm[name] = value;
      });
      expect(failure.message).toContain(`env.backends.onnx.wasm.${name}`);
    }
  });
});

describe('functions of arrays', () => {
  it('softmax and log_softmax of typed arrays are there at once', async () => {
    const logits = Float32Array.of(1, 2, 3);
    const wanted = (await softmax([1, 2, 3])).data;
    softmax(logits).forEach((value, i) => {
      expect(Math.abs(value - (wanted[i] as number))).toBeLessThan(1e-7);
    });
    expect(log_softmax(logits).map(Math.exp)).toEqual(expect.objectContaining({ length: 3 }));
    expect(log_softmax(new Float32Array(0))).toEqual(new Float32Array(0));
    expect(await softmax(new Tensor('float32', logits, [3]))).toBeInstanceOf(Tensor);
  });
});

describe('apply_chat_template', () => {
  const chat_template =
    '{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[bot]{% endif %}{% if enable_thinking == false %}[quick]{% endif %}';
  const vocab = { a: 0, '[user]': 1, '[bot]': 2 };
  const tokenizer = new PreTrainedTokenizer({ model: { type: 'WordLevel', vocab, unk_token: 'a' } }, { chat_template });
  const chat = [{ role: 'user', content: 'a' }];

  it('is a method of the tokenizer', async () => {
    const text = await tokenizer.apply_chat_template(chat, {
      tokenize: false,
      add_generation_prompt: true,
      enable_thinking: false,
    });
    expect(text).toBe('[user]a[bot][quick]');
    const inputs = await tokenizer.apply_chat_template(chat);
    expect([inputs.input_ids.dims, inputs.attention_mask.dims]).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect((await tokenizer.apply_chat_template(chat, { return_dict: false })).dims).toEqual([1, 1]);
    expect((await failureOf(() => tokenizer.apply_chat_template(chat, null as never))).message).toContain('options');
    expect((await failureOf(() => tokenizer.apply_chat_template(chat, { tokenise: false } as object))).code).toBe(
      'unsupported',
    );
  });
});
