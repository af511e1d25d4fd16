// Tensors as files: the same bytes as from numpy and safetensors, and text that parses to the same numbers.

import { readFileSync } from 'node:fs';
import { AutoModelForCausalLM, nn, Tensor, type TensorType, toCSV, toJSON, toNpy, toSafetensors } from 'clearformer';
import { describe, expect, it, vi } from 'vitest';
import { taken } from '../support/checkpoints.js';
import { failureOf } from '../support/failures.js';
import { casesOf, fixturePath, storiesPath } from '../support/references.js';

const cases = casesOf('tensor_files');
const fileOf = (name: string) => new Uint8Array(readFileSync(fixturePath(`tensor_files/${name}`)));
const arrays = { F32: Float32Array, I32: Int32Array, I64: BigInt64Array, U8: Uint8Array };
const types = { F32: 'float32', I32: 'int32', I64: 'int64', U8: 'uint8' } as const;

function tensorsIn(file: Uint8Array): Record<string, Tensor> {
  const { header, data } = taken(file);
  return Object.fromEntries(
    Object.entries(header).map(([name, { dtype, shape, data_offsets }]) => {
      const kind = dtype as keyof typeof arrays;
      const { buffer } = data.slice(...data_offsets);
      return [name, new Tensor(types[kind] as TensorType, new arrays[kind](buffer), shape)];
    }),
  );
}

const tensors = tensorsIn(fileOf('tensors.safetensors'));
const tensorNamed = (name: string) => tensors[name] as Tensor;
const floats = (values: number[], dims: number[]) => new Tensor('float32', Float32Array.from(values), dims);
const odd = floats([0.1, -0, Number.NaN, Infinity, -Infinity, 16777216], [2, 3]);

describe('toNpy', () => {
  it.each(cases.filter(({ op }) => op === 'npy'))('writes the bytes numpy.save does: $name', ({ name, file }) => {
    expect(toNpy(tensorNamed(name))).toEqual(fileOf(file));
  });

  it('refuses more axes than NumPy has', async () => {
    expect(toNpy(floats([1], Array(64).fill(1))).byteLength % 64).toBe(4);
    const failure = await failureOf(() => toNpy(floats([1], Array(65).fill(1))));
    expect([failure.code, failure.message]).toEqual(['unsupported', "toNpy: 65 axes, NumPy's arrays have 64"]);
  });
});

describe('toSafetensors', () => {
  it('writes the bytes the library does, whatever the order it is given', () => {
    const reversed = Object.fromEntries(Object.entries(tensors).reverse());
    expect(toSafetensors(reversed)).toEqual(fileOf('tensors.safetensors'));
    expect(toSafetensors({})).toEqual(fileOf('empty.safetensors'));
  });

  it.each(cases.filter(({ op }) => op === 'metadata'))('keeps metadata: $name', ({ file, options }) => {
    expect(toSafetensors({ x: floats([1], [1]) }, options as Record<string, string>)).toEqual(fileOf(file));
  });

  it('writes what the package reads', async () => {
    const weight = floats([1, 2, 3, 4, 5, 6], [3, 2]);
    const linear = new nn.Linear(2, 3);
    await linear.load_state_dict(toSafetensors({ weight, bias: floats([10, 20, 30], [3]) }, { from: 'here' }));
    expect((await linear.forward([[1, 1]])).tolist()).toEqual([[13, 27, 41]]);
    await linear.dispose();
  });

  it('holds a whole cache', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
    const [, cache] = await model.run_with_cache({ input_ids: [1, 403, 407] });
    const { header } = taken(toSafetensors(cache));
    expect(Object.keys(header).sort()).toEqual(
      model
        .hooks()
        .map(({ name }) => name as string)
        .sort(),
    );
    const read = tensorsIn(toSafetensors(cache));
    for (const [name, tensor] of Object.entries(cache)) expect(read[name]).toEqual(tensor);
    expect([...(read['blocks.0.attn.hook_attn_scores'] as Tensor).data]).toContain(-Infinity);
    await model.dispose();
  });

  it('refuses names and metadata that no reader could tell', async () => {
    const x = floats([1], [1]);
    for (const work of [
      () => toSafetensors({ __metadata__: x }),
      () => toSafetensors({ '\ud800': x }),
      () => toSafetensors({ x }, { key: '\udc00' }),
      () => toSafetensors({ x }, { key: 1 as never }),
      () => toSafetensors({ x }, 'text' as never),
      () => toSafetensors([x] as never),
      () => toSafetensors({ x: [1] as never }),
    ]) {
      const failure = await failureOf(work);
      expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringContaining('toSafetensors: ')]);
    }
  });
});

describe('toCSV', () => {
  it('writes a matrix as its rows', () => {
    expect(toCSV(odd)).toBe('0.1,-0.0,nan\ninf,-inf,16777216\n');
    expect(toCSV(tensorNamed('ids'))).toBe('1,-9223372036854775808\n9007199254740993,9223372036854775807\n');
    expect(toCSV(floats([], [2, 0]))).toBe('\n\n');
    expect(toCSV(floats([], [0, 2]))).toBe('');
  });

  it('writes other ranks a line for each element', () => {
    expect(toCSV(tensorNamed('é'))).toBe('2.5\n');
    expect(toCSV(tensorNamed('counts'))).toBe('-2147483648\n0\n2147483647\n');
    const cube = new Tensor(
      'uint8',
      Uint8Array.from({ length: 6 }, (_, i) => i),
      [1, 2, 3],
    );
    expect(toCSV(cube)).toBe('axis_0,axis_1,axis_2,value\n0,0,0,0\n0,0,1,1\n0,0,2,2\n0,1,0,3\n0,1,1,4\n0,1,2,5\n');
    expect(toCSV(floats([], [2, 0, 3]))).toBe('axis_0,axis_1,axis_2,value\n');
  });

  it('needs no more digits than numpy, and they read back as the same float32', () => {
    const numbers = tensorNamed('numbers');
    const wanted = cases.find(({ op }) => op === 'texts')?.texts as string[];
    const found = toCSV(numbers).trimEnd().split('\n');
    const digits = (text: string) => text.replace(/e.*|[-.]/g, '').replace(/^0+|0+$/g, '').length;
    expect(found.map(digits)).toEqual(wanted.map(digits));
    expect(Float32Array.from(found, Number)).toEqual(numbers.data);
  });
});

it.each(Object.entries({ toCSV, toJSON }))('%s refuses a text longer than the engine allows', async (name, write) => {
  const join = vi.spyOn(Array.prototype, 'join').mockImplementation(() => {
    throw new RangeError('Invalid string length');
  });
  const failure = await failureOf(() => write(odd)).finally(() => join.mockRestore());
  expect(failure.code).toBe('out_of_memory');
  expect(failure.message).toBe(
    `${name}: 6 numbers are too long a text for this engine; toNpy and toSafetensors give bytes`,
  );
});

describe('toJSON', () => {
  it('is JSON that holds type, dims and nested data', () => {
    const rows = [
      [0.1, -0, 'NaN'],
      ['Infinity', '-Infinity', 16777216],
    ];
    expect(JSON.parse(toJSON(odd))).toEqual({ type: 'float32', dims: [2, 3], data: rows });
    expect(toJSON(tensorNamed('é'))).toBe('{"type":"float32","dims":[],"data":2.5}');
    expect(toJSON(floats([], [2, 0, 3]))).toBe('{"type":"float32","dims":[2,0,3],"data":[[],[]]}');
    expect(toJSON(tensorNamed('ids'))).toContain('[9007199254740993,9223372036854775807]');
  });

  it.each(['blocks.0.attn.hook_attn_scores', 'bytes', 'counts'])('holds every number of %s', (name) => {
    const { data } = JSON.parse(toJSON(tensorNamed(name)));
    const values = (data as unknown[]).flat(8).map(Number);
    const exact = name === 'bytes' || name === 'counts' ? values : values.map(Math.fround);
    expect(exact).toEqual([...tensorNamed(name).data]);
  });
});

it.each([toNpy, toCSV, toJSON])('refuses what is no tensor', async (write) => {
  for (const wrong of [null, undefined, 1, 'text', [[1]], {}, { type: 'float32', data: new Float32Array(1) }]) {
    const failure = await failureOf(() => write(wrong as never));
    expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringMatching(/needs a Tensor/)]);
  }
  expect((await failureOf(() => write({ type: 'float16', data: [], dims: [] } as never))).code).toBe('dtype_mismatch');
  const gone = floats([1, 2], [2]);
  structuredClone(gone.data.buffer, { transfer: [gone.data.buffer] });
  expect((await failureOf(() => write(gone))).code).toBe('shape_mismatch');
});
