// Damaged files of control vectors, as GGUF and as safetensors: rejected with a typed error, or read to the numbers
// that are in the file, which both formats keep bit for bit; and arbitrary arguments of what makes and combines
// vectors.

import { AutoModelForCausalLM, ControlVector, Tensor } from 'clearformer';
import fc, { type Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import { anything, damagedJson, fuzz, mostly, some } from '../support/fuzzing.js';
import { fixturePath } from '../support/references.js';

const magic = 0x46554747;
const textType = 8;
const arrayType = 9;

/** A GGUF file as it is drawn: any field may be wrong. */
interface Drawn {
  magic: number;
  version: number;
  /** More than there are. */
  moreTensors: number;
  moreEntries: number;
  entries: [key: string, type: number, value: unknown][];
  tensors: { name: string; dims: number[]; type: number; place: number; shift: number }[];
  alignment: number;
  data: number[];
  cut: number;
}

/** Bytes of the numbers of types 0 to 12. */
const numberSizes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

const bytesOf = (value: bigint, size: number) =>
  Array.from({ length: size }, (_, at) => Number((value >> BigInt(8 * at)) & 255n));
const u32 = (value: number) => bytesOf(BigInt(value), 4);
const u64 = (value: number) => bytesOf(BigInt(value), 8);
const text = (value: string) => {
  const encoded = [...new TextEncoder().encode(value)];
  return [...u64(encoded.length), ...encoded];
};

function valueBytes(type: number, value: unknown): number[] {
  if (type === textType) return text(String(value));
  if (type !== arrayType)
    return bytesOf(BigInt(Number.isInteger(value) ? (value as number) : 7), numberSizes[type] ?? 3);
  const [inner, values] = Array.isArray(value) ? (value as [number, unknown[]]) : [4, [value]];
  return [...u32(inner), ...u64(values.length), ...values.flatMap((one) => valueBytes(inner, one))];
}

/** The file, and where its data begin. */
function fileOf(drawn: Drawn): { bytes: Uint8Array; start: number } {
  const { version, entries, tensors, alignment, data } = drawn;
  const header = [
    ...u32(drawn.magic),
    ...u32(version),
    ...u64(tensors.length + drawn.moreTensors),
    ...u64(entries.length + drawn.moreEntries),
    ...entries.flatMap(([key, type, value]) => [...text(key), ...u32(type), ...valueBytes(type, value)]),
    ...tensors.flatMap(({ name, dims, type, place, shift }) => [
      ...text(name),
      ...u32(dims.length),
      ...dims.flatMap(u64),
      ...u32(type),
      ...u64(place * alignment + shift),
    ]),
  ];
  const start = Math.ceil(header.length / alignment) * alignment;
  const padding = Array.from({ length: start - header.length }, () => 0);
  return { bytes: Uint8Array.from([...header, ...padding, ...data].slice(0, start + data.length - drawn.cut)), start };
}

const rarely = <T>(usual: T, other: Arbitrary<T>) =>
  fc.oneof({ weight: 30, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
const small = fc.integer({ min: 1, max: 2 ** 31 });
const entry = fc.oneof(
  fc.tuple(
    fc.constantFrom('a', 'general.name', 'controlvector.layer_count'),
    fc.integer({ min: 0, max: 13 }),
    fc.nat(),
  ),
  fc.tuple(fc.string({ maxLength: 3 }), fc.constant(textType), fc.string({ unit: 'grapheme' })),
  fc.tuple(
    fc.string({ maxLength: 3 }),
    fc.constant(arrayType),
    fc.tuple(fc.integer({ min: 0, max: 13 }), fc.array(fc.nat(9), { maxLength: 3 })),
  ),
) as Arbitrary<Drawn['entries'][number]>;

const gguf: Arbitrary<Drawn> = fc
  .record({
    magic: rarely(magic, small),
    version: rarely(3, fc.integer({ min: 0, max: 4 })),
    moreTensors: rarely(0, small),
    moreEntries: rarely(0, small),
    kind: rarely('controlvector', fc.constantFrom('llama', '')),
    hint: fc.oneof(fc.constant('llama'), fc.string({ unit: 'grapheme', maxLength: 4 })),
    more: fc.array(entry, { maxLength: 2 }),
    alignment: rarely(32, fc.constantFrom(0, 1, 8, 33, 64)),
    layers: fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 3 }),
    width: rarely(16, fc.constantFrom(0, 1, 2 ** 30)),
    name: rarely(undefined, fc.constantFrom<string | undefined>('direction.x', 'direction.01', 'other', 'direction.0')),
    dims: rarely(undefined, fc.constantFrom<number[] | undefined>([], [4, 4], [16, 1], [16, 1, 1, 1, 1])),
    type: rarely(0, small),
    shift: rarely(0, fc.constantFrom(1, 4, 32, 2 ** 40)),
    data: fc.uint8Array({ minLength: 3 * 64, maxLength: 3 * 64 }).map((bytes) => [...bytes]),
    cut: rarely(0, fc.nat(300)),
  })
  .map(({ kind, hint, more, layers, width, name, dims, type, shift, data, alignment, ...rest }) => ({
    ...rest,
    entries: [
      ['general.architecture', textType, kind],
      ['controlvector.model_hint', textType, hint],
      ...(alignment === 32 ? [] : [['general.alignment', 4, alignment] as Drawn['entries'][number]]),
      ...more,
    ] as Drawn['entries'],
    tensors: layers.map((layer, at) => ({
      name: at === 0 && name !== undefined ? name : `direction.${layer}`,
      dims: at === 0 && dims !== undefined ? dims : [width],
      type: at === 0 ? type : 0,
      place: (at * 64) / (alignment || 32),
      shift: at === 0 ? shift : 0,
    })),
    alignment: alignment || 32,
    // Bits of numbers that are finite: an exponent is never 255.
    data: data.map((byte, at) => (at % 4 === 3 ? byte & 0x3f : byte)),
  }));

const bitsOf = ({ data }: Tensor<'float32'>) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/** Both formats keep the vector. */
function expectKept(vector: ControlVector): void {
  const file = Buffer.from(vector.export_gguf());
  expect(file.equals(ControlVector.import_gguf(file).export_gguf())).toBe(true);
  expect(file.equals(ControlVector.from_safetensors(vector.to_safetensors()).export_gguf())).toBe(true);
}

it('GGUF files of control vectors', async () => {
  const counts = await fuzz('GGUF files', 100, gguf, (drawn) => {
    const { bytes, start } = fileOf(drawn);
    const vector = ControlVector.import_gguf(bytes);
    const named = drawn.tensors.filter(({ name }) => name.startsWith('direction.'));
    expect(vector.directions.size).toBe(named.length);
    for (const { name, dims, place, shift } of named) {
      const from = start + place * drawn.alignment + shift;
      const expected = Buffer.from(bytes.subarray(from, from + 4 * (dims[0] as number)));
      const found = vector.directions.get(Number(name.slice('direction.'.length))) as Tensor<'float32'>;
      expect(bitsOf(found).equals(expected)).toBe(true);
    }
    expectKept(vector);
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
});

const header = {
  __metadata__: { model_hint: 'llama' },
  'direction.1': { dtype: 'F32', shape: [16], data_offsets: [0, 64] },
  'direction.3': { dtype: 'F32', shape: [16], data_offsets: [64, 128] },
};
const vectorData = Float32Array.from({ length: 32 }, (_, at) => Math.cos(at));

it('safetensors files of control vectors', async () => {
  const drawn = fc.record({ header: fc.oneof(fc.constant(header), damagedJson([header])), cut: rarely(0, fc.nat(80)) });
  const counts = await fuzz('safetensors files of vectors', 100, drawn, ({ header, cut }) => {
    const entries = [...new TextEncoder().encode(JSON.stringify(header))];
    const file = Uint8Array.from([...u64(entries.length), ...entries, ...new Uint8Array(vectorData.buffer)]);
    const vector = ControlVector.from_safetensors(file.subarray(0, file.length - cut));
    // The rules of the format: each byte of the data belongs to one tensor.
    const sum = [...vector.directions.values()].reduce((all, { size }) => all + 4 * size, 0);
    expect(sum).toBeLessThanOrEqual(128);
    for (const { size } of vector.directions.values()) expect(size).toBeLessThanOrEqual(32);
    expectKept(vector);
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
});

it('calls of control vectors', async () => {
  await using model = await AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/bias'), { worker: false });
  const width = model.cfg.d_model;
  const bits = async () => bitsOf((await model({ input_ids: [[1, 5, 7]] })).logits as Tensor<'float32'>);
  const before = await bits();
  const ids = fc.array(fc.nat(30), { minLength: 1, maxLength: 3 }).map((row) => ({ input_ids: [row] }));
  const pair = mostly(fc.record({ positive: mostly(ids), negative: mostly(ids) }));
  const fitting = new Tensor('float32', new Float32Array(width).fill(0.5), [width]);
  const direction = mostly(
    rarely<Tensor>(
      fitting,
      fc.constantFrom<Tensor>(
        new Tensor('float32', new Float32Array(2), [2]),
        new Tensor('int32', new Int32Array(width), [width]),
        new Tensor('float32', new Float32Array(), [0]),
      ),
    ),
  );
  const drawn = fc.record({
    pairs: mostly(fc.array(pair, { minLength: 1, maxLength: 3 })),
    options: mostly(
      some({
        method: mostly(fc.constantFrom('pca_diff', 'pca_center', 'mean_diff')),
        hidden_layers: mostly(fc.uniqueArray(fc.nat(1), { maxLength: 2 })),
        progress: mostly(fc.constant(undefined)),
        signal: mostly(fc.constant(undefined)),
      }),
    ),
    other: mostly(
      fc
        .array(fc.tuple(mostly(fc.nat(1)), direction), { minLength: 1, maxLength: 2 })
        .map((list) => new Map(list as [])),
    ),
    steering: mostly(some({ strength: mostly(fc.constantFrom(0, 1, -3, 1e30)), pos: mostly(fc.constantFrom(0, -1)) })),
    factor: mostly(fc.constantFrom(2, 0, 1e38)),
    file: fc.oneof(anything, fc.uint8Array({ maxLength: 60 })),
  });
  const counts = await fuzz('calls of control vectors', 40, drawn, async (one) => {
    for (const read of [ControlVector.import_gguf, ControlVector.from_safetensors]) {
      expect(() => read(one.file as never)).toThrow(expect.objectContaining({ name: 'ClearformerError' }));
    }
    const found = await ControlVector.train(model, one.pairs as never, one.options as never);
    const sum = found.add(new ControlVector('llama', one.other as never)).mul(one.factor as number);
    const edits = sum.sub(found).edits(model, one.steering as never);
    await model.run_with_hooks({ input_ids: [[1, 5, 7]] }, { edits });
    expectKept(found);
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
  expect((await bits()).equals(before)).toBe(true);
});
