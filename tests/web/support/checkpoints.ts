// Checkpoints in memory, valid or with one error.

import { readFileSync } from 'node:fs';
import { noise } from './noise.js';
import { storiesPath } from './references.js';

export type Files = Record<string, Uint8Array>;

const names = ['config.json', 'generation_config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];

/** The files of stories260K. */
export function storiesFiles(): Files {
  return Object.fromEntries(names.map((name) => [name, new Uint8Array(readFileSync(`${storiesPath}/${name}`))]));
}

export type Header = Record<string, { dtype: string; shape: number[]; data_offsets: number[] }>;

/** A safetensors file from its header (an object, or text) and data. */
export function safetensors(header: object | string, data: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + text.byteLength + data.byteLength);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.byteLength), true);
  file.set(text, 8);
  file.set(data, 8 + text.byteLength);
  return file;
}

/** Splits a safetensors file into header and data. */
export function taken(file: Uint8Array): { header: Header; data: Uint8Array } {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
  delete header.__metadata__;
  return { header, data: file.slice(8 + length) };
}

/** stories260K with the header of its weights (or the whole file) changed. */
export function spoiled(change: (header: Header, data: Uint8Array) => Uint8Array | undefined): Files {
  const files = storiesFiles();
  const { header, data } = taken(files['model.safetensors'] as Uint8Array);
  return { ...files, 'model.safetensors': change(header, data) ?? safetensors(header, data) };
}

/** stories260K with its config.json changed. */
export function configured(change: Record<string, unknown>): Files {
  const files = storiesFiles();
  const config = { ...JSON.parse(new TextDecoder().decode(files['config.json'])), ...change };
  return { ...files, 'config.json': new TextEncoder().encode(JSON.stringify(config)) };
}

/** stories260K with an unused tensor, so that its weights are three pieces. */
export function largeStories(): Files {
  const files = storiesFiles();
  const { header, data } = taken(files['model.safetensors'] as Uint8Array);
  const padding = noise(9 << 20);
  const end = data.byteLength;
  header['padding.weight'] = {
    dtype: 'F16',
    shape: [padding.byteLength / 2],
    data_offsets: [end, end + padding.byteLength],
  };
  return { ...files, 'model.safetensors': safetensors(header, Buffer.concat([data, padding])) };
}

/** stories260K with each tensor in a file of its own. */
export function shardedStories(): Files {
  const { 'model.safetensors': whole, ...rest } = storiesFiles();
  const { header, data } = taken(whole as Uint8Array);
  const names = Object.keys(header);
  const fileOf = (i: number) =>
    `model-${String(i + 1).padStart(5, '0')}-of-${String(names.length).padStart(5, '0')}.safetensors`;
  const weight_map = Object.fromEntries(names.map((name, i) => [name, fileOf(i)]));
  const shards = names.map((name, i) => {
    const { data_offsets, ...described } = header[name] as Header[string];
    const [first = 0, end = 0] = data_offsets;
    const alone = { [name]: { ...described, data_offsets: [0, end - first] } };
    return [fileOf(i), safetensors(alone, data.slice(first, end))];
  });
  const index = new TextEncoder().encode(JSON.stringify({ metadata: {}, weight_map }));
  return { ...rest, ...Object.fromEntries(shards), 'model.safetensors.index.json': index };
}
