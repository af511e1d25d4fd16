// A folder of files that no one has saved: texts, and safetensors files whose numbers are drawn while they are read.

import type { Folder, SourceFile } from '../../checkpoint/folder.js';
import type { Distribution, Drawn } from './distributions.js';
import { logarithm, normalNumbers, uniformNumbers } from './random_numbers.js';

/** A tensor of a new file. */
export interface Planned extends Drawn {
  distribution: Distribution;
  /** Numbers that are not drawn. */
  table?: Float32Array | undefined;
}

/** How many numbers a tensor of these dims has. */
export const elements = (dims: readonly number[]) => dims.reduce((product, extent) => product * extent, 1);

/** The files of those names: a text, or tensors that are drawn by the seed and their names. */
export function newFolder(
  where: string,
  files: Readonly<Record<string, string | readonly Planned[]>>,
  seed: number,
): Folder {
  const found = new Map(Object.entries(files).map(([name, given]) => [name, fileOf(where, name, given, seed)]));
  const only = (names: readonly string[]): Folder => ({
    where,
    find: async (name) => (names.includes(name) ? found.get(name) : undefined),
    list: async () => [...found.keys()].filter((name) => names.includes(name)),
    only,
  });
  return only([...found.keys()]);
}

function fileOf(where: string, name: string, given: string | readonly Planned[], seed: number): SourceFile {
  const isText = typeof given === 'string';
  const start = isText ? new TextEncoder().encode(given) : headerOf(given);
  const size = isText ? 0 : given.reduce((sum, { dims }) => sum + 4 * elements(dims), 0);
  const chunks = () => contents(start, isText ? [] : given, seed);
  return { name, where, size: start.length + size, borrowed: false, html: false, chunks };
}

/** The start of a safetensors file of these tensors. */
function headerOf(tensors: readonly Planned[]): Uint8Array {
  let at = 0;
  const entries = tensors.map(({ name, dims }) => {
    const begin = at;
    at += 4 * elements(dims);
    return [name, { dtype: 'F32', shape: dims, data_offsets: [begin, at] }] as const;
  });
  const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const header = new Uint8Array(8 + Math.ceil(text.length / 8) * 8).fill(0x20);
  new DataView(header.buffer).setBigUint64(0, BigInt(header.length - 8), true);
  header.set(text, 8);
  return header;
}

const partElements = 1 << 18;

/** The start, and the numbers of the tensors. */
async function* contents(start: Uint8Array, tensors: readonly Planned[], seed: number): AsyncIterable<Uint8Array> {
  yield start.slice(); // which the reader may transfer
  for (const tensor of tensors) {
    const count = elements(tensor.dims);
    const numbers = numbersOf(tensor, seed);
    for (let first = 0; first < count; first += partElements) {
      const part = new Float32Array(Math.min(partElements, count - first));
      for (let at = 0; at < part.length; at++) part[at] = numbers(first + at);
      yield new Uint8Array(part.buffer);
    }
  }
}

/** The elements of a tensor, which are asked for in order. */
function numbersOf({ name, dims, distribution, table }: Planned, seed: number): (at: number) => number {
  const uniform = uniformNumbers(seed, name);
  switch (distribution.kind) {
    case 'constant':
      return () => distribution.value;
    case 'uniform':
      return () => (2 * uniform() - 1) * distribution.limit;
    case 'logarithm':
      return () => logarithm(uniform()) - logarithm(1 / distribution.limit);
    case 'normal': {
      const { std, limit, zeroRow } = distribution;
      const width = dims.at(-1) ?? 1;
      const next = normalNumbers(uniform, limit === undefined ? undefined : limit / std);
      return (at) => {
        const value = next() * std;
        return zeroRow !== undefined && Math.floor(at / width) === zeroRow ? 0 : value;
      };
    }
    default:
      return (at) => table?.[at] as number;
  }
}
