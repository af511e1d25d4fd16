// Several tensors as one safetensors file (https://github.com/huggingface/safetensors), in the library's order: by
// element size, largest first, then by name.

import { ClearformerError, textOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import { bytesOf, exportedTensor, roomFor } from './exported_tensor.js';
import type { Tensor, TensorType } from './tensor.js';

const types = { float32: 'F32', int32: 'I32', int64: 'I64', uint8: 'U8', int8: 'I8' };
const order: readonly TensorType[] = ['int64', 'float32', 'int32', 'int8', 'uint8'];
const longestHeader = 100_000_000; // the library's limit in bytes

/**
 * A safetensors file with these tensors, such as everything that `run_with_cache` captured; `metadata` are strings
 * stored with them. safetensors.numpy.load_file reads it in Python, `load_state_dict` and `from_pretrained` here.
 * Throws `invalid_argument` for anything but Tensors, metadata that are not strings, the reserved name `__metadata__`
 * and names that are not valid Unicode; `unsupported` for more than 100 MB of names, which readers refuse.
 */
export function toSafetensors(
  tensors: Readonly<Record<string, Tensor>>,
  metadata?: Readonly<Record<string, string>>,
): Uint8Array {
  const entries = sorted(tensors);
  const header = new TextEncoder().encode(headerText(entries, metadata));
  const start = 8 + Math.ceil(header.length / 8) * 8;
  if (start - 8 > longestHeader) {
    throw new ClearformerError(
      'unsupported',
      `toSafetensors: names of ${start - 8} bytes, ${longestHeader} are allowed`,
    );
  }
  const file = roomFor(
    'toSafetensors',
    entries.reduce((sum, { content }) => sum + content.byteLength, start),
  );
  new DataView(file.buffer).setBigUint64(0, BigInt(start - 8), true);
  file.set(header, 8);
  file.fill(0x20, 8 + header.length, start);
  let at = start;
  for (const { content } of entries) {
    file.set(content, at);
    at += content.byteLength;
  }
  return file;
}

interface Entry {
  name: string;
  tensor: Tensor;
  content: Uint8Array;
}

function sorted(tensors: Readonly<Record<string, Tensor>>): Entry[] {
  requireObject('tensors by name', tensors);
  const entries = Object.entries(tensors).map(([name, given]) => {
    requireText(name);
    if (name === '__metadata__') throw invalid("the name '__metadata__' is reserved for metadata");
    const tensor = exportedTensor(`toSafetensors: '${name}'`, given);
    return { name, tensor, content: bytesOf(tensor) };
  });
  const rank = ({ tensor }: Entry) => order.indexOf(tensor.type);
  return entries.sort((a, b) => rank(a) - rank(b) || compareAsUtf8(a.name, b.name));
}

function headerText(entries: readonly Entry[], metadata: Readonly<Record<string, string>> | undefined): string {
  const members: string[] = [];
  if (metadata !== undefined) members.push(`"__metadata__":${JSON.stringify(textsOf(metadata))}`);
  let at = 0;
  for (const { name, tensor, content } of entries) {
    const data_offsets = [at, at + content.byteLength];
    const info = { dtype: types[tensor.type], shape: tensor.dims, data_offsets };
    members.push(`${JSON.stringify(name)}:${JSON.stringify(info)}`);
    at += content.byteLength;
  }
  return `{${members.join()}}`;
}

function textsOf(metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  requireObject('metadata', metadata);
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string') throw invalid(`metadata '${key}' is ${textOf(value)}, no text`);
    requireText(key);
    requireText(value);
  }
  return metadata;
}

function requireObject(what: string, given: unknown): void {
  if (isObject(given)) return;
  throw invalid(`needs an object of ${what}, got ${textOf(given)}`);
}

function requireText(text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw invalid(`${JSON.stringify(text)} is no Unicode text`);
}

/**
 * Compares by code points, as UTF-8 bytes compare; `<` compares UTF-16, which orders code points from U+E000
 * differently.
 */
function compareAsUtf8(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = (left[i]?.codePointAt(0) ?? 0) - (right[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

const invalid = (problem: string) => new ClearformerError('invalid_argument', `toSafetensors: ${problem}`);
