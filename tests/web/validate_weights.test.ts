// Weights and tokens that only reading whole files tells: what validate says of a folder agrees with what loading does.

import { readFileSync } from 'node:fs';
import { AutoModelForCausalLM, AutoModelForSeq2SeqLM, inspect, pipeline, validate } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { type Files, type Header, safetensors, storiesFiles, taken } from './support/checkpoints.js';
import { failureOf } from './support/failures.js';
import { fixturePath } from './support/references.js';

const weights = 'model.safetensors';
const index = 'model.safetensors.index.json';
const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** The folder with more tensors behind its own. */
function withMore(files: Files, more: Record<string, { dtype: string; shape: number[]; bytes: Uint8Array }>): Files {
  const { header, data } = taken(files[weights] as Uint8Array);
  let whole = data;
  for (const [name, { dtype, shape, bytes }] of Object.entries(more)) {
    const from = whole.byteLength;
    whole = new Uint8Array(Buffer.concat([whole, bytes]));
    header[name] = { dtype, shape, data_offsets: [from, whole.byteLength] };
  }
  return { ...files, [weights]: safetensors(header, whole) };
}

it('a mask of -inf that no model reads is a warning', async () => {
  const bytes = new Uint8Array(new Float32Array([1, -Infinity]).buffer);
  const files = withMore(storiesFiles(), {
    'model.layers.0.self_attn.masked_bias': { dtype: 'F32', shape: [2], bytes },
  });
  const { valid, problems } = await validate(files);
  expect(valid).toBe(true);
  expect(problems).toMatchObject([
    { severity: 'warning', message: expect.stringMatching(/masked_bias" has 1 values that are NaN or infinite$/) },
  ]);
});

it('a file without any tensor is as invalid as it is for loading', async () => {
  const files = { ...storiesFiles(), [weights]: safetensors({}, new Uint8Array(0)) };
  const failure = await failureOf(() => AutoModelForCausalLM.from_pretrained(files, { worker: false }));
  expect(failure.code).toBe('missing_tensor');
  for (const { valid, missing_tensors, problems } of [await inspect(files), await validate(files)]) {
    expect([valid, missing_tensors.length]).toEqual([false, 47]);
    expect(problems).toContainEqual(expect.objectContaining({ code: 'missing_tensor' }));
  }
});

describe('numbers in 8 bits that are none', () => {
  it.each([
    ['F8_E4M3', [0x7f, 0xff], [0x7e, 0xfe]],
    ['F8_E5M2', [0x7c, 0xfc, 0x7d, 0xff], [0x7b, 0xfb]],
  ] as const)('%s', async (dtype, none, finite) => {
    const bytes = Uint8Array.from([...finite, ...none, ...finite, ...none]);
    const { problems } = await validate(withMore(storiesFiles(), { x: { dtype, shape: [bytes.length], bytes } }));
    expect(problems).toMatchObject([{ message: expect.stringContaining(`"x" has ${2 * none.length} values`) }]);
  });
});

describe('weights of 8 bits with scales beside them', () => {
  it.each(['weight_scale', 'weight_scale_inv', 'scale_weight'])('%s', async (scale) => {
    const name = `model.layers.0.mlp.up_proj.${scale}`;
    const files = withMore(storiesFiles(), {
      'model.layers.0.mlp.up_proj.copy': { dtype: 'F8_E4M3', shape: [1], bytes: new Uint8Array(1) },
      [name]: { dtype: 'F32', shape: [1], bytes: new Uint8Array(4) },
    });
    const words = `scaled 8-bit weights are not supported: ${name}`;
    const { valid, problems } = await inspect(files);
    expect(valid).toBe(false);
    expect(problems).toMatchObject([{ code: 'unsupported', message: expect.stringContaining(words), file: weights }]);
    const failure = await failureOf(() => AutoModelForCausalLM.from_pretrained(files, { worker: false }));
    expect([failure.code, failure.message]).toEqual(['unsupported', expect.stringContaining(words)]);
  });

  it('and scales beside other weights, which nobody reads', async () => {
    const files = withMore(storiesFiles(), {
      'x.weight_scale': { dtype: 'F32', shape: [1], bytes: new Uint8Array(4) },
    });
    expect((await inspect(files)).problems).toEqual([]);
  });
});

describe('a tensor in two files', () => {
  const { [weights]: whole, ...rest } = storiesFiles();
  const { header, data } = taken(whole as Uint8Array);
  const twice = 'model.norm.weight';

  /** The norm in a.safetensors, all tensors in b.safetensors; `place`: where the index has the norm. */
  function folder(place: string): Files {
    const [begin = 0, end = 0] = header[twice]?.data_offsets ?? [];
    const entry = { ...header[twice], data_offsets: [0, end - begin] };
    const weight_map = Object.fromEntries(Object.keys(header).map((name) => [name, 'b.safetensors']));
    return {
      ...rest,
      'a.safetensors': safetensors({ [twice]: entry }, data.slice(begin, end)),
      'b.safetensors': whole as Uint8Array,
      [index]: bytesOf({ weight_map: { none: 'a.safetensors', ...weight_map, [twice]: place } }),
    };
  }

  it.each(['a.safetensors', 'b.safetensors'])('the index says %s', async (place) => {
    const { problems } = await validate(folder(place));
    const message = `b.safetensors: tensor "${twice}" is also in a.safetensors`;
    const about = problems.filter((problem) => problem.message.includes(twice));
    expect(about).toMatchObject([{ code: 'malformed_file', severity: 'error', message }]);
    const load = () => AutoModelForCausalLM.from_pretrained(folder(place), { worker: false });
    // Loading reads a.safetensors first, and ends before it knows b.safetensors.
    const first = place === 'a.safetensors' ? message : `"${twice}" is in a.safetensors, not in b.safetensors`;
    expect((await failureOf(load)).message).toContain(first);
  });

  it('a tensor in another file than the index says is told so', async () => {
    const files = { ...folder('a.safetensors'), 'a.safetensors': safetensors({}, new Uint8Array(0)) };
    const message = `${index}: weight_map: "${twice}" is in b.safetensors, not in a.safetensors`;
    expect((await inspect(files)).problems).toContainEqual(expect.objectContaining({ severity: 'error', message }));
    const load = () => AutoModelForCausalLM.from_pretrained(files, { worker: false });
    expect((await failureOf(load)).message).toContain(message);
  });
});

describe('tables that the config ties', () => {
  const names = ['config.json', 'generation_config.json', weights];

  /** T5 or BART with the encoder's table stored as well; `change` its bytes. */
  function folder(family: string, change: (bytes: Uint8Array) => Uint8Array): [Files, string, string] {
    const path = (name: string) => fixturePath(`models/${family}/even/${name}`);
    const files = Object.fromEntries(names.map((name) => [name, new Uint8Array(readFileSync(path(name)))]));
    const { header, data } = taken(files[weights] as Uint8Array);
    const source = Object.keys(header).find((name) => name.endsWith('shared.weight')) as string;
    const { dtype, shape, data_offsets } = header[source] as Header[string];
    const bytes = change(data.slice(data_offsets[0], data_offsets[1]));
    const table = source.replace('shared', 'encoder.embed_tokens');
    return [withMore(files, { [table]: { dtype, shape, bytes } }), table, source];
  }

  it.each(['t5', 'bart'])('%s', async (family) => {
    const [same] = folder(family, (bytes) => bytes);
    const told = async (files: Files) =>
      (await validate(files)).problems.filter(({ severity }) => severity === 'error');
    expect(await told(same)).toEqual([]);
    const [files, table, source] = folder(family, (bytes) => bytes.map((byte, i) => (i === 0 ? byte ^ 1 : byte)));
    const message = `weights: "${table}" differs from "${source}", which the config ties it to`;
    expect(await told(files)).toEqual([{ code: 'unsupported', severity: 'error', message }]);
    expect((await inspect(files)).valid).toBe(true);
    const load = () => AutoModelForSeq2SeqLM.from_pretrained(files, { worker: false });
    expect((await failureOf(load)).message).toContain(message);
  });
});

describe('a special token beyond the vocabulary', () => {
  const files = storiesFiles();
  const json = JSON.parse(new TextDecoder().decode(files['tokenizer.json']));
  const added = (flags: object) => {
    const token = { content: '<image_soft_token>', normalized: false, special: true, ...flags };
    const all = { single_word: false, lstrip: false, rstrip: false, id: 512, ...token };
    return { ...files, 'tokenizer.json': bytesOf({ ...json, added_tokens: [...json.added_tokens, all] }) };
  };
  const words = 'token 512 ("<image_soft_token>") is beyond the model\'s vocabulary of 512';

  it('is a warning where ordinary texts do not contain it', async () => {
    const { valid, problems } = await validate(added({}));
    expect(problems).toMatchObject([{ severity: 'warning', message: `tokenizer.json: ${words}` }]);
    expect(valid).toBe(true);
    const write = await pipeline('text-generation', added({}), { worker: false });
    expect(await write('Once', { max_new_tokens: 1 })).toHaveLength(1);
    await write.dispose();
  });

  it.each<[string, Files]>([
    ['it is not special', added({ special: false })],
    ['it pads', { ...added({}), 'tokenizer_config.json': bytesOf({ pad_token: '<image_soft_token>' }) }],
  ])('is an error where %s', async (_, given) => {
    const { problems } = await validate(given);
    expect(problems).toMatchObject([{ severity: 'error', message: `tokenizer.json: ${words}` }]);
  });
});

describe('values nested without end', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const text = (json: string) => new TextEncoder().encode(json);
  const { 'tokenizer.json': _, ...rest } = storiesFiles();
  it.each<[string, Files]>([
    ['tokenizer.json', { ...rest, 'tokenizer.json': text(`{"added_tokens": [${deep}], "model": {"type": "BPE"}}`) }],
    ['modules.json', { ...storiesFiles(), 'modules.json': text(deep) }],
    [
      'vocab.json',
      {
        ...rest,
        'vocab.json': text(`{"zz": ${deep}}`),
        'merges.txt': text(''),
        'tokenizer_config.json': bytesOf({ tokenizer_class: 'GPT2Tokenizer' }),
      },
    ],
  ])('%s', async (file, files) => {
    const { problems } = await validate(files);
    const shown = expect.stringMatching(new RegExp(`^${file}.* nested deeper than 64 levels$`));
    expect(problems).toContainEqual({ code: 'malformed_config', severity: 'error', file, message: shown });
    const task = file === 'modules.json' ? 'feature-extraction' : 'text-generation';
    expect((await failureOf(() => pipeline(task, files, { worker: false }))).code).toBe('malformed_config');
  });
});

it('a model_max_length that is no whole number is told, and 1e30 is none', async () => {
  const config = (model_max_length: number) => bytesOf({ model_max_length });
  const told = async (limit: number) =>
    (await validate({ ...storiesFiles(), 'tokenizer_config.json': config(limit) })).problems;
  expect(await told(1.5)).toMatchObject([
    { code: 'malformed_config', message: expect.stringMatching(/model_max_length must be a whole number from 1 up/) },
  ]);
  expect(await told(1e30)).toEqual([]);
});

it('problems have the order of their files, whatever is read first', async () => {
  const [own, none] = ['config.json', 'generation_config.json'].map((name) => new File(['[]'], name)) as [File, File];
  for (const [first, second] of [
    [own, none],
    [bytesOf([]), none],
    [own, bytesOf([])],
  ]) {
    const files = { ...storiesFiles(), 'config.json': first, 'generation_config.json': second } as Files;
    const { problems } = await inspect(files);
    expect(problems.map(({ file }) => file)).toEqual([own.name, none.name]);
  }
});

it('weights in a folder of a record are not to be renamed, those beside config.json are', async () => {
  const { [weights]: whole, ...rest } = storiesFiles();
  const told = async (name: string) => (await inspect({ ...rest, [name]: whole as Uint8Array })).problems[0]?.message;
  expect(await told('2_Dense/model.safetensors')).toMatch(/^neither model\.safetensors .* is in the given record$/);
  expect(await told('other.safetensors')).toMatch(/the weights may be in other\.safetensors: rename it$/);
});
