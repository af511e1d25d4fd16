// inspect and validate: their reports match what loading finds; invalid input is a problem, not an error.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  configure,
  type Inspection,
  type InspectOptions,
  inspect,
  pipeline,
  type Source,
  validate,
  type WeightType,
} from 'clearformer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configured, type Files, safetensors, spoiled, storiesFiles, taken } from './support/checkpoints.js';
import { directory } from './support/directory_handle.js';
import { failureOf } from './support/failures.js';
import { classOf } from './support/model_classes.js';
import { fixturePath, storiesPath } from './support/references.js';
import { FileServer } from './support/server.js';

const bundledPath = (name: string): string => join(storiesPath, '..', name);
const dtypes: WeightType[] = ['fp32', 'fp16', 'q8', 'q4'];
const textOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const messages = ({ problems }: Inspection): string => problems.map(({ message }) => message).join('\n');

function without(files: Files, ...names: string[]): Files {
  return Object.fromEntries(Object.entries(files).filter(([name]) => !names.includes(name)));
}

/** All reference folders with weights, one per architecture, and the bundled models. */
function folders(): string[] {
  const families = readdirSync(fixturePath('models')).map((family) => {
    const inside = readdirSync(fixturePath(`models/${family}`), { withFileTypes: true });
    return inside.filter((entry) => entry.isDirectory()).map(({ name }) => fixturePath(`models/${family}/${name}`));
  });
  const bundled = ['stories260K', 'marian-tiny-en-fr', 'vit-mnist', 'gpt-nano-sort'].map(bundledPath);
  return [...families.flatMap((all) => all.slice(0, 1)), ...bundled];
}

describe('inspect', () => {
  it.each(folders())('%s: as it is once it is loaded', async (folder) => {
    const found = await inspect(folder);
    expect(found.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(found.valid).toBe(true);
    expect(JSON.parse(JSON.stringify(found))).toEqual(found);
    const load = classOf(found.task, found.model_type);
    for (const dtype of dtypes) {
      const model = await load.from_pretrained(folder, { dtype, deterministic: true });
      expect(found.cfg).toEqual(model.cfg);
      expect(found.memory?.[dtype]).toBe(model.info().memory.weights);
      expect(found.unexpected_tensors).toEqual(model.unexpected_tensors);
      await model.dispose();
    }
  });

  it('gives the same for a path, files, a record, a directory handle and a server', async () => {
    const files = storiesFiles();
    const wanted = await inspect(storiesPath);
    expect(wanted).toMatchObject({
      model_type: 'llama',
      architectures: ['LlamaForCausalLM'],
      kind: 'decoder-only',
      task: 'causal-lm',
      pipeline: 'text-generation',
      input_modalities: ['text'],
      tokenizer: { kind: 'tokenizer.json', files: ['tokenizer.json', 'tokenizer_config.json'] },
      parameters: 260032,
      bytes: { F16: 2 * 260032 },
      cache: {
        fp32: { per_position: 2 * 5 * 4 * 8 * 4, per_source_position: 0 },
        fp16: { per_position: 2 * 5 * 4 * (8 * 2 + 4), per_source_position: 0 },
        q8: { per_position: 2 * 5 * 4 * (8 + 4), per_source_position: 0 },
      },
      problems: [],
    });
    expect(wanted.tensors.length).toBe(47);
    const server = await FileServer.start({ ...files }, { ranges: true });
    const sources: Source[] = [
      files,
      Object.entries(files).map(([name, bytes]) => new File([bytes as BlobPart], name)),
      directory(files),
      `${server.url}/stories`,
    ];
    for (const source of sources) expect(await inspect(source)).toEqual(wanted);
    await server.stop();
  });

  it('tells an architecture that is not there, with its tensors', async () => {
    const files = configured({ model_type: 'mamba', architectures: ['MambaForCausalLM'] });
    const found = await inspect(files);
    expect(found).toMatchObject({ valid: false, model_type: 'mamba', kind: null, cfg: null, memory: null });
    expect(found.tensors.length).toBe(47);
    expect(found.problems).toMatchObject([{ code: 'unsupported', severity: 'error', file: 'config.json' }]);
  });

  it('tells missing, misshapen and unused tensors by name', async () => {
    const files = spoiled((header) => {
      header['model.norm.weight'] = { ...header['model.norm.weight'], shape: [8, 8] } as never;
      header.other = header['model.layers.0.mlp.up_proj.weight'] as never;
      delete header['model.layers.0.mlp.up_proj.weight'];
      return undefined;
    });
    const found = await inspect(files);
    expect(found.missing_tensors).toEqual(['model.layers.0.mlp.up_proj.weight']);
    expect(found.unexpected_tensors).toEqual(['other']);
    expect(found.problems.map(({ code }) => code).sort()).toEqual(['missing_tensor', 'shape_mismatch']);
    expect(messages(found)).toContain('expected [64]');
  });

  it('tells a shard that is not there, and what memory it would take all the same', async () => {
    const { header, data } = taken(storiesFiles()['model.safetensors'] as Uint8Array);
    const weight_map = Object.fromEntries(Object.keys(header).map((name) => [name, 'a.safetensors']));
    weight_map['model.norm.weight'] = 'b.safetensors';
    const index = textOf(JSON.stringify({ metadata: {}, weight_map }));
    const files = { ...without(storiesFiles(), 'model.safetensors'), 'model.safetensors.index.json': index };
    const found = await inspect({ ...files, 'a.safetensors': safetensors(header, data) });
    expect(found.problems).toMatchObject([
      { code: 'file_not_found', file: 'b.safetensors', severity: 'error' },
      { code: 'malformed_file', severity: 'warning' },
      { code: 'malformed_file', severity: 'error', message: expect.stringContaining('not in b.safetensors') },
    ]);
    expect(found.memory).toEqual((await inspect(storiesPath)).memory);
    expect(found.missing_tensors).toEqual([]);
  });

  it.each<[string, Files, RegExp]>([
    ['config.json that is no JSON', { 'config.json': textOf('{') }, /config\.json is not JSON/],
    ['config.json that is a page', { 'config.json': textOf('<html>') }, /HTML page/],
    ['config.json with a wrong value', configured({ hidden_size: -1 }), /"hidden_size"/],
    [
      'a generation_config.json with a wrong value',
      { 'generation_config.json': textOf('{"temperature": -1}') },
      /temperature/,
    ],
    ['weights without a header', { 'model.safetensors': new Uint8Array(3) }, /3 bytes, too few/],
    ['a header without end', { 'model.safetensors': new Uint8Array(20).fill(255) }, /header claims/],
    ['a header that is no JSON', { 'model.safetensors': safetensors('{]', new Uint8Array(0)) }, /header/],
  ])('%s is a problem', async (_, change, words) => {
    const found = await inspect({ ...storiesFiles(), ...change });
    expect(found.valid).toBe(false);
    expect(messages(found)).toMatch(words);
  });

  it('names weights of other formats and what to load instead', async () => {
    const rest = without(storiesFiles(), 'model.safetensors');
    const config = { ...JSON.parse(new TextDecoder().decode(rest['config.json'])), _name_or_path: 'karpathy/stories' };
    const described = { ...rest, 'config.json': textOf(JSON.stringify(config)) };
    const cases: [string, RegExp][] = [
      ['pytorch_model.bin', /PyTorch.*save_pretrained/],
      ['onnx/model.onnx', /ONNX.*load the checkpoint it was made from, karpathy\/stories/],
      ['stories-q4_k.gguf', /GGUF.*karpathy\/stories/],
      ['tf_model.h5', /TensorFlow/],
      ['flax_model.msgpack', /Flax/],
    ];
    for (const [name, words] of cases) {
      const found = await inspect({ ...described, [name]: new Uint8Array(8) });
      expect(found.problems).toMatchObject([{ code: 'unsupported', severity: 'error', file: name }]);
      expect(messages(found)).toMatch(words);
      expect(found.other_formats).toEqual([name]);
      expect(found.memory?.fp32).toBe(4 * 260032); // according to config.json
    }
  });

  it('says that a conversion for transformers.js is one', async () => {
    const files = without(storiesFiles(), 'model.safetensors');
    const server = await FileServer.start({ ...files, 'model_quantized.onnx': new Uint8Array(8) });
    configure({ remoteHost: server.url });
    const found = await inspect('Xenova/stories');
    expect(messages(found)).toMatch(/Xenova\/stories.*conversions for transformers\.js.*base model/);
    configure({ remoteHost: undefined });
    await server.stop();
  });

  it('warns of what is not beside the model', async () => {
    const found = await inspect(without(storiesFiles(), 'tokenizer.json', 'tokenizer_config.json'));
    expect(found).toMatchObject({ valid: true, tokenizer: null });
    expect(found.problems).toMatchObject([{ code: 'file_not_found', severity: 'warning', file: 'tokenizer.json' }]);
    const pieces = await inspect({
      ...without(storiesFiles(), 'tokenizer.json'),
      'tokenizer.model': new Uint8Array(8),
    });
    expect(pieces.tokenizer).toEqual({ kind: 'sentencepiece', files: ['tokenizer.model'] });
    expect(pieces.problems).toMatchObject([{ code: 'unsupported', severity: 'warning' }]);
  });

  it('rejects for what is no source, for a folder without anything and for options that are not known', async () => {
    expect(await failureOf(() => inspect({}))).toMatchObject({ code: 'file_not_found' });
    expect(await failureOf(() => inspect('/there/is/none'))).toMatchObject({ code: 'file_not_found' });
    expect(await failureOf(() => inspect(3 as never))).toMatchObject({ code: 'invalid_argument' });
    const options = { dtype: 'q4' } as InspectOptions;
    expect(await failureOf(() => inspect(storiesPath, options))).toMatchObject({ code: 'unsupported' });
    const wrong = await inspect(storiesPath, { task: 'juggling' });
    expect(wrong.problems).toMatchObject([{ code: 'unsupported', message: expect.stringContaining('juggling') }]);
    const signal = AbortSignal.abort('no');
    await expect(inspect(storiesPath, { signal })).rejects.toBe('no');
  });
});

describe('over http', () => {
  // Weights large enough to matter: stories260K after a tensor that no model uses.
  const ballast = 1 << 22;
  const large = spoiled((header, data) => {
    const end = data.byteLength + ballast;
    const bytes = new Uint8Array(end);
    bytes.set(data);
    return safetensors(
      { ...header, zeros: { dtype: 'U8', shape: [ballast], data_offsets: [data.byteLength, end] } },
      bytes,
    );
  });
  let server: FileServer;
  beforeEach(async () => {
    server = await FileServer.start({ ...large });
  });
  afterEach(async () => {
    configure({ remoteHost: undefined });
    await server.stop();
  });

  it.each([
    ['with ranges', { ranges: true }],
    ['without', {}],
    ['without HEAD', { noHead: true }],
    ['without content-length', { noLength: true }],
    ['that compresses', { gzip: true }],
    ['that shows a page for what it has not', { page: '<!doctype html><title>App</title>' }],
  ])('a server %s', async (_, options) => {
    server.options = options;
    const found = await inspect(`${server.url}/stories`);
    const wanted = await inspect(large);
    const sizes = found.files.map(({ name, bytes }) => ({
      name,
      bytes: bytes ?? wanted.files.find((one) => one.name === name)?.bytes,
    }));
    expect({ ...found, files: sizes }).toEqual(wanted);
  });

  it('reads no weights, and each file once', async () => {
    server.options = { ranges: true };
    await inspect(`${server.url}/stories`);
    expect(server.sent).toBeLessThan(1 << 17);
    const gets = server.requests.filter((request) => request.startsWith('GET'));
    expect(gets.map((request) => request.replace(/^.*\//, '')).sort()).toEqual([
      'config.json',
      'generation_config.json',
      'model.safetensors',
    ]);
  });

  it('a server that fails is no problem of the folder', async () => {
    server.options = { status: { 'config.json': 500 } };
    expect(await failureOf(() => inspect(`${server.url}/stories`))).toMatchObject({
      code: 'network_error',
      details: { status: 500 },
    });
  });

  it('pipeline() without a task reads config.json once', async () => {
    const write = await pipeline(undefined, `${server.url}/stories`);
    expect(write.task).toBe('text-generation');
    await write.dispose();
    expect(server.requests.filter((request) => /GET .*\/config\.json/.test(request)).length).toBe(1);
  });
});

describe('validate', () => {
  it.each(['stories260K', 'marian-tiny-en-fr', 'vit-mnist'])('%s is valid', async (name) => {
    const found = await validate(bundledPath(name));
    expect(messages(found)).toBe('');
    expect(found).toEqual(await inspect(bundledPath(name)));
  });

  it('tells sizes and channels of preprocessor_config.json that the model does not take', async () => {
    const told = async (folder: string, config: object) => {
      const own = ['config.json', 'model.safetensors'].map((name) => [name, readFileSync(join(folder, name))]);
      const processor = textOf(JSON.stringify({ image_processor_type: 'ViTImageProcessor', ...config }));
      const found = await validate({ ...Object.fromEntries(own), 'preprocessor_config.json': processor });
      return found.problems.filter(({ file }) => file === 'preprocessor_config.json').map(({ message }) => message);
    };
    const digits = bundledPath('vit-mnist');
    const grey = { image_mean: 0.5, image_std: [0.5] };
    for (const [config, size] of [
      [{ size: 32 }, '32 x 32'],
      [{}, '224 x 224'],
      [{ size: 28, do_center_crop: true, crop_size: [20, 28] }, '20 x 28'],
      [{ image_processor_type: 'CLIPImageProcessor', size: { shortest_edge: 28 } }, '224 x 224'],
    ] as const)
      expect(await told(digits, { ...grey, ...config })).toEqual([
        `preprocessor_config.json: images become ${size} pixels, and the model was made for 28 x 28`,
      ]);
    for (const config of [
      { size: 28 },
      { size: { shortest_edge: 28 } },
      { do_resize: false },
      { size: 40, do_center_crop: true, crop_size: 28 },
    ])
      expect(await told(digits, { ...grey, ...config })).toEqual([]);
    expect(await told(digits, { size: 28, image_std: 1 })).toEqual([
      'preprocessor_config.json: image_mean has a number for each of 3 channels, and the model reads 1',
    ]);
    expect(await told(fixturePath('models/dinov2/even_base'), {})).toEqual([]);
    expect(await told(fixturePath('models/dinov3_vit/even_base'), {})).toEqual([]);
    expect(await told(fixturePath('models/dinov2/even_base'), grey)).toEqual([
      'preprocessor_config.json: image_std has a number for each of 1 channels, and the model reads 3',
    ]);
    expect(await told(fixturePath('models/clip/even'), {})).toHaveLength(1);
  });

  it('finds numbers that are none in every format, wherever chunks end', async () => {
    const files = storiesFiles();
    const bytes = (files['model.safetensors'] as Uint8Array).slice();
    const view = new DataView(bytes.buffer);
    view.setUint32(bytes.byteLength - 8, 0x7fc00000, true);
    view.setUint32(bytes.byteLength - 4, 0xff800000, true);
    const found = await validate({ ...files, 'model.safetensors': bytes });
    expect(found.problems).toMatchObject([
      { code: 'malformed_file', message: expect.stringMatching(/has 2 values that are NaN/) },
    ]);
    expect(found.valid).toBe(false);

    const sizes = { F64: 8, F32: 4, F16: 2, BF16: 2 };
    const bits: Record<string, [bigint, bigint]> = {
      F64: [0x7ff0000000000000n, 0x7fefffffffffffffn],
      F32: [0x7fc00001n, 0x7f7fffffn],
      F16: [0xfc00n, 0x7bffn],
      BF16: [0xff80n, 0x7f7fn],
    };
    for (const [dtype, size] of Object.entries(sizes)) {
      const count = 600_000;
      const data = new Uint8Array(count * size);
      const at = new DataView(data.buffer);
      const set = (i: number, value: bigint) => {
        for (let byte = 0; byte < size; byte++)
          at.setUint8(i * size + byte, Number((value >> BigInt(8 * byte)) & 255n));
      };
      const [bad, good] = bits[dtype] as [bigint, bigint];
      const places = [0, 131071, 262143, 262144, count - 1]; // chunks end within elements, since the header has an odd length
      for (let i = 0; i < count; i += 1000) set(i, good);
      for (const place of places) set(place, bad);
      for (const pad of ['', ' ', '  ', '   ']) {
        const header = JSON.stringify({ x: { dtype, shape: [count], data_offsets: [0, data.byteLength] } }) + pad;
        const told = await validate({ ...files, 'model.safetensors': safetensors(header, data) });
        expect(messages(told)).toContain(`tensor "x" has ${places.length} values`);
      }
    }
  });

  it('tells every file that is wrong', async () => {
    const found = await validate({
      ...storiesFiles(),
      'generation_config.json': textOf('{"temperature": -1}'),
      'tokenizer.json': textOf('{"model": {"type": "Unheard"}}'),
      'modules.json': textOf('[{"path": "", "type": "models.Dense"}]'),
    });
    for (const file of ['generation_config.json', 'modules.json']) expect(messages(found)).toContain(file);
    expect(found.problems.length).toBe(3);
  });

  it('tells a token beyond the vocabulary', async () => {
    const vocab = Object.fromEntries(Array.from({ length: 513 }, (_, id) => [`w${id}`, id]));
    const tokenizer = {
      pre_tokenizer: { type: 'WhitespaceSplit' },
      model: { type: 'WordLevel', vocab, unk_token: 'w0' },
    };
    const found = await validate({ ...storiesFiles(), 'tokenizer.json': textOf(JSON.stringify(tokenizer)) });
    expect(messages(found)).toMatch(/^tokenizer\.json: token 51\d \(".*"\) is beyond the model's vocabulary of 512$/);
  });
});

describe('pipeline() without a task', () => {
  it('is what the checkpoint was made for', async () => {
    for (const [folder, task] of [
      [bundledPath('marian-tiny-en-fr'), 'translation'],
      [bundledPath('vit-mnist'), 'image-classification'],
    ] as const) {
      const made = await pipeline(undefined, folder);
      expect(made.task).toBe(task);
      await made.dispose();
    }
  });

  it('rejects with what is wrong', async () => {
    const files = configured({ architectures: ['BertForMultipleChoice'] });
    expect(await failureOf(() => pipeline(undefined, files))).toMatchObject({ code: 'unsupported' });
    expect(await failureOf(() => pipeline(undefined, join(storiesPath, 'none')))).toMatchObject({
      code: 'file_not_found',
    });
    expect(JSON.parse(readFileSync(`${storiesPath}/config.json`, 'utf8')).model_type).toBe('llama');
  });
});
