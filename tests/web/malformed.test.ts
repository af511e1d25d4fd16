// Invalid checkpoints: each is rejected with a typed error that names the file, the tensor and the rule, and the same
// thread loads a valid one right after.

import { AutoModelForCausalLM } from 'clearformer';
import { afterAll, describe, expect, it } from 'vitest';
import {
  configured,
  type Files,
  type Header,
  safetensors,
  spoiled,
  storiesFiles,
  taken,
} from './support/checkpoints.js';
import { failureOf } from './support/failures.js';

const load = (files: Files, worker = false) => AutoModelForCausalLM.from_pretrained(files, { worker });
const good = storiesFiles();
const { header: goodHeader, data: goodData } = taken(good['model.safetensors'] as Uint8Array);
const entries = Object.entries(goodHeader).sort(
  ([, a], [, b]) => Number(a.data_offsets[0]) - Number(b.data_offsets[0]),
);
const [firstName = '', first = { dtype: '', shape: [], data_offsets: [0, 0] }] = entries[0] ?? [];
const [secondName = ''] = entries[1] ?? [];
const [lastName = ''] = entries.at(-1) ?? [];
const norm = 'model.norm.weight';
const entry = (header: Header, name: string) => header[name] as Header[string];
const withWeights = (weights: Uint8Array): Files => ({ ...good, 'model.safetensors': weights });

afterAll(async () => {
  await (await load(good)).dispose();
});

describe('malformed safetensors', () => {
  const whole = good['model.safetensors'] as Uint8Array;
  const text = JSON.stringify(goodHeader);
  const cases: [string, () => Files, string[]][] = [
    ['an empty file', () => withWeights(new Uint8Array(0)), []],
    ['seven bytes', () => withWeights(whole.slice(0, 7)), []],
    ['truncated in the header', () => withWeights(whole.slice(0, 100)), []],
    ['truncated in the data', () => withWeights(whole.slice(0, -5)), []],
    ['bytes after the end', () => withWeights(Buffer.concat([whole, Buffer.of(0)])), []],
    ['a header longer than the file', () => withWeights(lengthened(whole, 1n << 32n)), []],
    ['a header of 2^63 bytes', () => withWeights(lengthened(whole, 1n << 63n)), []],
    ['a header above the limit of 100 MB', () => withWeights(lengthened(whole, 100_000_001n)), []],
    ['a header that is no JSON', () => withWeights(safetensors(text.slice(0, -1), goodData)), []],
    ['a header that is an array', () => withWeights(safetensors('[]', goodData)), []],
    ['a header that is no UTF-8', () => withWeights(broken(whole)), []],
    [
      'a name twice',
      () => withWeights(safetensors(`${text.slice(0, -1)},"${firstName}":${JSON.stringify(first)}}`, goodData)),
      [firstName],
    ],
    [
      'tensors that overlap',
      () =>
        spoiled(
          (header) => void entry(header, secondName).data_offsets.splice(0, 1, Number(first.data_offsets[1]) - 4),
        ),
      [secondName],
    ],
    ['a hole between tensors', () => spoiled((header) => void delete header[secondName]), []],
    [
      'data after the last tensor',
      () => spoiled((header, data) => safetensors(header, Buffer.concat([data, Buffer.alloc(8)]))),
      [],
    ],
    [
      'offsets outside the file',
      () => spoiled((header) => void entry(header, lastName).data_offsets.splice(1, 1, 2 ** 40)),
      [lastName],
    ],
    [
      'offsets in reverse',
      () => spoiled((header) => void entry(header, firstName).data_offsets.reverse()),
      [firstName],
    ],
    [
      'negative offsets',
      () => spoiled((header) => void Object.assign(entry(header, firstName), { data_offsets: [-4, 4] })),
      [firstName],
    ],
    [
      'fractions as offsets',
      () => spoiled((header) => void Object.assign(entry(header, firstName), { data_offsets: [0, 4.5] })),
      [firstName],
    ],
    [
      'a shape of 2^32 × 2^32',
      () => spoiled((header) => void Object.assign(entry(header, firstName), { shape: [2 ** 32, 2 ** 32] })),
      [firstName],
    ],
    ['a shape of 2^62 × 4', () => withWeights(huge('4611686018427387904,4')), [firstName]],
    [
      'a shape that does not fit its bytes',
      () => spoiled((header) => void Object.assign(entry(header, firstName), { shape: [3, 3] })),
      [firstName],
    ],
    [
      'an unknown dtype',
      () => spoiled((header) => void Object.assign(entry(header, firstName), { dtype: 'F33' })),
      [firstName, 'F33'],
    ],
    [
      'no dtype',
      () => spoiled((header) => void delete (entry(header, firstName) as Partial<Header[string]>).dtype),
      [firstName],
    ],
    [
      'a tensor that is a number',
      () => spoiled((header) => void Object.assign(header, { [firstName]: 3 })),
      [firstName],
    ],
  ];

  it.each(cases)('%s', async (_, files, words) => {
    const failure = await failureOf(() => load(files()));
    expect(failure.code).toBe('malformed_file');
    for (const word of ['model.safetensors', ...words]) expect(failure.message).toContain(word);
  });
});

/** Replaces the length of the header. */
function lengthened(file: Uint8Array, length: bigint): Uint8Array {
  const copy = new Uint8Array(file);
  new DataView(copy.buffer).setBigUint64(0, length, true);
  return copy;
}

/** Writes a byte into the header that is invalid in UTF-8. */
function broken(file: Uint8Array): Uint8Array {
  const copy = new Uint8Array(file);
  copy[12] = 0xff;
  return copy;
}

/** A shape beyond JavaScript's numbers. */
function huge(shape: string): Uint8Array {
  const marked = { ...goodHeader, [firstName]: { ...first, shape: ['marked'] } };
  return safetensors(JSON.stringify(marked).replace('"marked"', shape), goodData);
}

describe('weights that do not fit the architecture', () => {
  it('a missing tensor', async () => {
    const failure = await failureOf(() => load(renamed(norm, 'model.normal.weight')));
    expect(failure.code).toBe('missing_tensor');
    expect(failure.message).toContain(norm);
  });

  it('an extra tensor is told, not refused', async () => {
    const extra = {
      ...goodHeader,
      'extra.weight': { dtype: 'F32', shape: [1], data_offsets: [goodData.byteLength, goodData.byteLength + 4] },
    };
    const model = await load(withWeights(safetensors(extra, Buffer.concat([goodData, Buffer.alloc(4)]))));
    expect(model.unexpected_tensors).toEqual(['extra.weight']);
    await model.dispose();
  });

  it('a wrong shape names what was expected and what is there', async () => {
    const failure = await failureOf(() =>
      load(spoiled((header) => void Object.assign(entry(header, norm), { shape: [8, 8] }))),
    );
    expect(failure.code).toBe('shape_mismatch');
    for (const word of [norm, '64', '8']) expect(failure.message).toContain(word);
  });

  it('a dtype that weights cannot have', async () => {
    const header = structuredClone(goodHeader);
    const last = entry(header, lastName); // twice as many bytes as in float16
    const bytes = Number(last.data_offsets[1]) - Number(last.data_offsets[0]);
    Object.assign(last, { dtype: 'I32', data_offsets: [last.data_offsets[0], goodData.byteLength + bytes] });
    const data = Buffer.concat([goodData, new Uint8Array(bytes)]);
    const failure = await failureOf(() => load(withWeights(safetensors(JSON.stringify(header), data))));
    expect(failure.code).toBe('dtype_mismatch');
    for (const word of [lastName, 'int32']) expect(failure.message).toContain(word);
  });
});

/** One tensor under another name. */
function renamed(from: string, to: string): Files {
  return spoiled((header) => {
    header[to] = entry(header, from);
    delete header[from];
    return undefined;
  });
}

describe('malformed config.json', () => {
  it.each([
    [{ num_attention_heads: 7 }, 'num_attention_heads'],
    [{ num_attention_heads: 0 }, 'num_attention_heads'],
    [{ hidden_size: -64 }, 'hidden_size'],
    [{ hidden_size: '64' }, 'hidden_size'],
    [{ num_hidden_layers: 1.5 }, 'num_hidden_layers'],
    [{ rms_norm_eps: 'small' }, 'rms_norm_eps'],
    [{ vocab_size: null }, 'vocab_size'],
    [{ num_key_value_heads: 3 }, 'num_key_value_heads'],
  ])('%j', async (change, word) => {
    const failure = await failureOf(() => load(configured(change)));
    expect(failure.code).toBe('malformed_config');
    for (const one of ['config.json', word]) expect(failure.message).toContain(one);
  });

  it('a missing size is the default of its class, which the tensors contradict', async () => {
    const failure = await failureOf(() => load(configured({ hidden_size: undefined })));
    expect(failure.code).toBe('shape_mismatch');
    expect(failure.message).toContain('4096');
  });

  it.each([
    [{ model_type: 'mamba', architectures: ['MambaForCausalLM'] }, 'mamba'],
    [{ hidden_act: 'swish7' }, 'swish7'],
    [{ rope_scaling: { rope_type: 'spiral', factor: 2 } }, 'spiral'],
  ])('%j is unsupported by name', async (change, word) => {
    const failure = await failureOf(() => load(configured(change)));
    expect(failure.code).toBe('unsupported');
    expect(failure.message).toContain(word);
  });

  it.each([
    ['{', 'JSON'],
    ['[]', 'object'],
    ['', 'JSON'],
    ['<html>', 'HTML'],
    ['\uFEFF{', 'JSON'],
  ])('the text %j', async (text, word) => {
    const failure = await failureOf(() => load({ ...good, 'config.json': new TextEncoder().encode(text) }));
    expect(failure.code).toBe('malformed_config');
    for (const one of ['config.json', word]) expect(failure.message).toContain(one);
  });

  it('bytes that are no UTF-8', async () => {
    const failure = await failureOf(() => load({ ...good, 'config.json': Uint8Array.of(0x7b, 0xff, 0x7d) }));
    expect(failure).toMatchObject({ code: 'malformed_config', details: { file: 'config.json' } });
  });

  it('generation_config.json that is none', async () => {
    const spoil = (value: object) => ({
      ...good,
      'generation_config.json': new TextEncoder().encode(JSON.stringify(value)),
    });
    expect((await failureOf(() => load(spoil([])))).message).toContain('generation_config.json');
    const failure = await failureOf(() => load(spoil({ max_new_tokens: -1 })));
    expect(failure.code).toBe('malformed_config');
    for (const word of ['generation_config.json', 'max_new_tokens']) expect(failure.message).toContain(word);
  });
});

describe('malformed index', () => {
  const { 'model.safetensors': weights, ...rest } = good;
  const indexed = (index: unknown): Files => ({
    ...rest,
    'model.safetensors.index.json': new TextEncoder().encode(typeof index === 'string' ? index : JSON.stringify(index)),
    'part.safetensors': weights as Uint8Array,
  });

  it('one shard is as good as the whole', async () => {
    const weight_map = Object.fromEntries(Object.keys(goodHeader).map((name) => [name, 'part.safetensors']));
    const model = await load(indexed({ metadata: { total_size: goodData.byteLength }, weight_map }));
    expect(model.info().weightsBytes).toBe(2 * goodData.byteLength); // the file's float16 as float32
    await model.dispose();
  });

  it.each([
    ['no weight_map', {}, 'weight_map'],
    ['a weight_map that is a list', { weight_map: [] }, 'weight_map'],
    ['a file that is a number', { weight_map: { a: 3 } }, 'a'],
    ['a file outside the folder', { weight_map: { a: '../part.safetensors' } }, '../part.safetensors'],
  ])('%s', async (_, index, word) => {
    const failure = await failureOf(() => load(indexed(index)));
    expect(['malformed_file', 'malformed_config']).toContain(failure.code);
    for (const one of ['model.safetensors.index.json', word]) expect(failure.message).toContain(one);
  });
});

describe('bytes changed at random', () => {
  /** Random integers below `limit`, the same in every run. */
  function* numbers(seed: number): Generator<(limit: number) => number> {
    for (let state = seed; ; ) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const value = state / 2 ** 32;
      yield (limit) => Math.floor(value * limit);
    }
  }

  it.each(['model.safetensors', 'config.json'])(
    'in %s end in a typed error or a model',
    async (name) => {
      const file = good[name] as Uint8Array;
      const head = Math.min(file.byteLength, 6000); // the header of the weights
      const random = numbers(name.length);
      const next = (limit: number) => random.next().value(limit);
      const codes = new Set<string>();
      for (let round = 0; round < 150; round++) {
        const spoilt = file.slice();
        for (let changes = next(4); changes >= 0; changes--)
          spoilt[next(head)] = next(2) === 0 ? 0x30 + next(10) : next(256);
        const outcome = await load({ ...good, [name]: spoilt }).then(
          async (model) => {
            await model({ input_ids: [[1, 2]] });
            await model.dispose();
            return 'loaded';
          },
          (error: { code?: string }) => error.code ?? String(error),
        );
        codes.add(outcome);
      }
      const allowed = [
        'loaded',
        'malformed_file',
        'malformed_config',
        'missing_tensor',
        'shape_mismatch',
        'dtype_mismatch',
        'unsupported',
      ];
      expect([...codes].filter((code) => !allowed.includes(code))).toEqual([]);
      expect(codes.size).toBeGreaterThan(2);
    },
    30_000,
  );
});

describe('in a worker', () => {
  it('errors keep code and text', async () => {
    const here = await failureOf(() => load(renamed(norm, 'model.normal.weight')));
    const there = await failureOf(() => load(renamed(norm, 'model.normal.weight'), true));
    expect([there.code, there.message]).toEqual([here.code, here.message]);
    const cut = withWeights((good['model.safetensors'] as Uint8Array).slice(0, -5));
    expect(await failureOf(() => load(cut, true))).toMatchObject({ code: 'malformed_file' });
  });
});
