// Unusual but valid folders: they load, with the same numbers as the usual form.

import { AutoModelForCausalLM, inspect } from 'clearformer';
import { expect, it } from 'vitest';
import { baseOf, bytesOf, changed, jsonOf } from './corpus/folders.js';
import { type Files, type Header, safetensors, taken } from './support/checkpoints.js';

const file = 'model.safetensors';
const index = 'model.safetensors.index.json';
const base = baseOf('stories260K');
const { header, data } = taken(base[file] as Uint8Array);
const input_ids = [[1, 403, 17]];

/** The folder with an additional tensor of any type. */
function withMore(name: string, entry: Pick<Header[string], 'dtype' | 'shape'>, bytes: number): Files {
  const more = { ...entry, data_offsets: [data.byteLength, data.byteLength + bytes] };
  const whole = Buffer.concat([data, Buffer.alloc(bytes, 0x7f)]);
  return { ...base, [file]: safetensors({ ...header, [name]: more }, whole) };
}

/** The same weights as one shard, with an index. */
function sharded(weight_map: Record<string, string>): Files {
  const { [file]: whole, ...rest } = base;
  return { ...rest, 'one.safetensors': whole as Uint8Array, [index]: bytesOf(JSON.stringify({ weight_map })) };
}

const places = Object.fromEntries(Object.keys(header).map((name) => [name, 'one.safetensors']));
const nulls = Object.fromEntries(Object.keys(jsonOf(base, 'generation_config.json')).map((key) => [key, null]));

it.each<[string, Files, string[]]>([
  ...['F8_E4M3', 'F8_E5M2', 'I8', 'F64', 'U16', 'C64', 'F4'].map((dtype): [string, Files, string[]] => {
    const bits = { F8_E4M3: 8, F8_E5M2: 8, I8: 8, F64: 64, U16: 16, C64: 64, F4: 4 }[dtype] as number;
    return [`an unused tensor of ${dtype}`, withMore('other.weight', { dtype, shape: [16] }, 2 * bits), []];
  }),
  ['an unused tensor of nine dimensions', withMore('other', { dtype: 'F32', shape: Array(9).fill(1) }, 4), []],
  ['a large unused tensor', withMore('other', { dtype: 'F8_E4M3', shape: [300_000] }, 300_000), []],
  ['one shard', sharded(places), []],
  ['an index that names what nobody has', sharded({ ...places, other: 'one.safetensors' }), ['other']],
  ['an index that leaves tensors out', sharded({ 'model.norm.weight': 'one.safetensors' }), ['lacks']],
  [
    'an end token beyond the vocabulary',
    changed(base, 'generation_config.json', { eos_token_id: 70_000 }),
    ['eos_token_id', '70000', '512'],
  ],
  ['a negative padding token, which is none', changed(base, 'generation_config.json', { pad_token_id: -1 }), []],
  ['options that are null', changed(base, 'generation_config.json', nulls), []],
  ['keys that nobody reads', changed(base, 'config.json', { _name_or_path: 3, torch_dtype: ['x'] }), []],
])('%s', async (_, files, words) => {
  const plain = await AutoModelForCausalLM.from_pretrained(base, { worker: false });
  const odd = await AutoModelForCausalLM.from_pretrained(files, { worker: false });
  expect((await odd({ input_ids })).logits.data).toEqual((await plain({ input_ids })).logits.data);
  await Promise.all([plain.dispose(), odd.dispose()]);
  const { valid, problems } = await inspect(files);
  expect(valid).toBe(true);
  const told = problems.map(({ message }) => message).join('; ');
  for (const word of words) expect(told).toContain(word);
});
