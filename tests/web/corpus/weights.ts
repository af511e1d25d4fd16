// Headers of safetensors files and indices of shards, rule by rule.

import { type Header, safetensors, taken } from '../support/checkpoints.js';
import { type BadFolder, baseOf, bytesOf, type Draw } from './folders.js';

const file = 'model.safetensors';
const index = 'model.safetensors.index.json';
type Entry = Header[string];

/** Errors in one tensor's entry, and the parts of the message. */
const entries: readonly [string, (entry: Entry, draw: Draw) => object | number | string | null, string][] = [
  ['no object', () => 3, 'object'],
  ['null', () => null, 'object'],
  ['a list', () => [], 'object'],
  ['no dtype', ({ dtype: _, ...rest }) => rest, 'dtype'],
  ['a dtype that is a number', (entry) => ({ ...entry, dtype: 32 }), 'dtype'],
  ['an unknown dtype', (entry) => ({ ...entry, dtype: 'F33' }), 'F33'],
  ['no shape', ({ shape: _, ...rest }) => rest, 'shape'],
  ['a shape that is a number', (entry) => ({ ...entry, shape: 64 }), 'shape'],
  ['negative extents', (entry) => ({ ...entry, shape: entry.shape.map((extent) => -extent) }), 'shape'],
  ['fractions as extents', (entry) => ({ ...entry, shape: entry.shape.map((extent) => extent + 0.5) }), 'shape'],
  ['texts as extents', (entry) => ({ ...entry, shape: entry.shape.map(String) }), 'shape'],
  ['an extent more', (entry, draw) => ({ ...entry, shape: [...entry.shape, 2 + draw.below(9)] }), 'takes'],
  ['2^32 × 2^32', (entry) => ({ ...entry, shape: [2 ** 32, 2 ** 32] }), 'overflows'],
  ['no offsets', ({ data_offsets: _, ...rest }) => rest, 'data_offsets'],
  ['one offset', (entry) => ({ ...entry, data_offsets: [0] }), 'data_offsets'],
  ['three offsets', (entry) => ({ ...entry, data_offsets: [0, 4, 8] }), 'data_offsets'],
  ['offsets in reverse', (entry) => ({ ...entry, data_offsets: [...entry.data_offsets].reverse() }), 'backwards'],
  ['negative offsets', (entry) => ({ ...entry, data_offsets: [-4, 4] }), 'data_offsets'],
  ['fractions as offsets', (entry) => ({ ...entry, data_offsets: [0, 4.5] }), 'data_offsets'],
  [
    'offsets outside of the file',
    ({ data_offsets: [a = 0], ...rest }) => ({ ...rest, data_offsets: [a, 2 ** 40] }),
    '1099511627776',
  ],
  ['another key', (entry) => ({ ...entry, checksum: 3 }), 'checksum'],
];

/** Each error in a randomly selected tensor. */
export function* badHeaders(draw: Draw): Generator<BadFolder> {
  const base = baseOf('stories260K');
  const { header, data } = taken(base[file] as Uint8Array);
  const names = Object.keys(header);
  const loaded = (title: string, bytes: Uint8Array, words: string[]): BadFolder => ({
    title: `${file}: ${title}`,
    files: { ...base, [file]: bytes },
    reader: 'causal',
    words: [file, ...words],
  });
  for (const [title, spoil, rule] of entries) {
    for (const name of draw.some(names, 2)) {
      const spoilt = { ...header, [name]: spoil(header[name] as Entry, draw) };
      yield loaded(`${title} in ${name}`, safetensors(JSON.stringify(spoilt), data), [name, rule]);
    }
  }
  const [gone = '', moved = '', twice = ''] = draw.some(names, 3);
  const { [gone]: left, ...others } = header;
  yield loaded('a hole', safetensors(JSON.stringify(others), data), []);
  const overlapping = { ...header, [moved]: left as Entry };
  yield loaded('one range twice', safetensors(JSON.stringify({ ...overlapping, [gone]: left }), data), []);
  const text = JSON.stringify(header);
  const again = `${text.slice(0, -1)},${JSON.stringify(twice)}:${JSON.stringify(header[twice])}}`;
  yield loaded('a name twice', safetensors(again, data), [twice, 'twice']);
  yield loaded('metadata that are numbers', safetensors({ ...header, __metadata__: { a: 3 } }, data), ['__metadata__']);
  yield loaded('metadata that are a list', safetensors({ ...header, __metadata__: [] }, data), ['__metadata__']);
  for (const header of ['[]', '3', '{', '{}x', '', 'null'])
    yield loaded(`the header ${header}`, safetensors(header, data), []);
  const whole = base[file] as Uint8Array;
  for (const length of [0, 1 + draw.below(7), 8, 9 + draw.below(90), whole.byteLength - 1 - draw.below(900)])
    yield loaded(`${length} bytes`, whole.slice(0, length), []);
  yield loaded('bytes behind the end', Buffer.concat([whole, Buffer.alloc(1 + draw.below(9))]), []);
}

/** Tensors that do not match the model's requirements. */
export function* badTensors(draw: Draw): Generator<BadFolder> {
  for (const [name, reader] of [
    ['stories260K', 'causal'],
    ['models/gpt2/even', 'causal'],
    ['models/bert/even_masked_lm', 'masked'],
    ['models/t5/even', 'seq2seq'],
    ['models/vit/even_image_classification', 'image'],
    ['models/whisper/even', 'speech'],
  ] as const) {
    const base = baseOf(name);
    const { header, data } = taken(base[file] as Uint8Array);
    const norms = Object.keys(header).filter(
      (tensor) => /norm|ln_|LayerNorm/.test(tensor) && header[tensor]?.shape.length === 1,
    );
    const [tensor = ''] = draw.some(norms, 1);
    const entry = header[tensor] as Entry;
    const { [tensor]: _, ...rest } = header;
    const with_ = (title: string, files: object, words: string[], bytes = data): BadFolder => ({
      title: `${name}: ${title} (${tensor})`,
      files: { ...base, [file]: safetensors(files, bytes) },
      reader,
      words,
    });
    yield with_('a tensor under another name', { ...rest, 'some.other': entry }, [tensor, 'missing']);
    const [extent = 0] = entry.shape;
    yield with_('another shape', { ...rest, [tensor]: { ...entry, shape: [1, extent] } }, [
      file,
      tensor,
      `[1, ${extent}]`,
    ]);
    const bytes = Number(entry.data_offsets[1]) - Number(entry.data_offsets[0]);
    const dtype = bytes / extent === 4 ? 'I32' : 'I16';
    yield with_('whole numbers', { ...rest, [tensor]: { ...entry, dtype } }, [
      file,
      tensor,
      dtype === 'I32' ? 'int32' : dtype,
    ]);
    const eight = { dtype: 'F8_E8M0', shape: [extent, bytes / extent], data_offsets: entry.data_offsets };
    yield with_('eight bits', { ...rest, [tensor]: eight }, [file, tensor, 'F8_E8M0']);
  }
}

/** Invalid indices, and shards that contradict the index. */
export function* badIndices(draw: Draw): Generator<BadFolder> {
  const base = baseOf('stories260K');
  const { header, data } = taken(base[file] as Uint8Array);
  const { [file]: whole, ...rest } = base;
  const names = Object.keys(header);
  const map = Object.fromEntries(names.map((name) => [name, 'one.safetensors']));
  const made = (title: string, text: unknown, words: string[]): BadFolder => ({
    title: `${index}: ${title}`,
    files: {
      ...rest,
      'one.safetensors': whole as Uint8Array,
      'two.safetensors': safetensors({ extra: { dtype: 'F32', shape: [1], data_offsets: [0, 4] } }, data.slice(0, 4)),
      [index]: bytesOf(typeof text === 'string' ? text : JSON.stringify(text)),
    },
    reader: 'causal',
    words,
  });
  for (const text of ['', '{', '[]', 'null', '3', '{"weight_map":{"a":"x","a":"y"}}']) yield made(text, text, [index]);
  for (const weight_map of [null, 3, 'a', [], true])
    yield made(`weight_map ${weight_map}`, { weight_map }, [index, 'weight_map']);
  yield made('an empty weight_map', { weight_map: {} }, [index, 'weight_map']);
  for (const name of draw.some(names, 3)) {
    for (const shard of [3, null, ['one.safetensors'], {}])
      yield made(`${name} in ${shard}`, { weight_map: { ...map, [name]: shard } }, [index, name]);
    yield made(`${name} in another file`, { weight_map: { ...map, [name]: 'two.safetensors' } }, [
      index,
      name,
      'one.safetensors',
      'two.safetensors',
    ]);
  }
  for (const shard of ['../one.safetensors', '/etc/passwd', 'a/b.safetensors', '..', '.', '', 'a\\b', 'a\u0000b'])
    yield made(`the file ${JSON.stringify(shard)}`, { weight_map: { ...map, [names[0] as string]: shard } }, [
      index,
      'plain file name',
    ]);
  yield made('a file that is not there', { weight_map: { ...map, x: 'three.safetensors' } }, ['three.safetensors']);
}

/** A weight stored twice, under two prefixes. */
export function* twoPrefixes(draw: Draw): Generator<BadFolder> {
  for (const [name, prefix, reader] of [
    ['stories260K', 'model.', 'causal'],
    ['models/gpt2/even', 'transformer.', 'causal'],
    ['models/bert/even_masked_lm', 'bert.', 'masked'],
    ['models/roberta/even_masked_lm', 'roberta.', 'masked'],
    ['models/vit/even_image_classification', 'vit.', 'image'],
  ] as const) {
    const base = baseOf(name);
    const { header, data } = taken(base[file] as Uint8Array);
    for (const tensor of draw.some(
      Object.keys(header).filter((one) => one.startsWith(prefix)),
      2,
    )) {
      const entry = header[tensor] as Entry;
      const [from = 0, to = 0] = entry.data_offsets;
      const bare = tensor.slice(prefix.length);
      const twin = { ...entry, data_offsets: [data.byteLength, data.byteLength + to - from] };
      const bytes = Buffer.concat([data, data.subarray(from, to)]);
      const files = { ...base, [file]: safetensors({ ...header, [bare]: twin }, bytes) };
      yield { title: `${name}: ${tensor} and ${bare}`, files, reader, words: [file, tensor, bare, 'prefix'] };
    }
  }
}
