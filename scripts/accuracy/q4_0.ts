// llama.cpp's Q4_0, for comparison: blocks of 32 inputs, a scale d = (the element of largest magnitude) / -8 in half
// precision, integers 0 … 15 = min(15, floor(x / d + 8.5)), restored as (integer - 8) · d. The matrices that q4 rounds
// are rounded; all others, and the inputs of all products, stay in fp32.
// Source: quantize_row_q4_0_ref of ggml-quants.c in llama.cpp (MIT licence), the formula.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { halfBits } from '../models/half.js';
import { readSafetensors } from '../models/read_safetensors.js';
import { type StoredTensor, safetensorsBytes } from '../models/safetensors.js';

const blockLength = 32;
/** q4 keeps smaller matrices in fp16. */
const fewElements = 65_536;
/** Tables that are no matrices of products; output layers and projections to attention's values, which q4 has in q8. */
const others = /value\.|v_proj\.|shared\.|embed_|lm_head\.|proj_out\.|position|token_type|pooler/;

/** The number that 16 bits of a half stand for. */
function halfValue(bits: number): number {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

/** Rounds a block of `numbers` in place. */
function roundBlock(numbers: Float32Array): void {
  let extreme = 0;
  for (const number of numbers) if (Math.abs(number) > Math.abs(extreme)) extreme = number;
  const scale = Math.fround(extreme / -8);
  const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
  const stored = halfValue(halfBits(scale));
  for (const [i, number] of numbers.entries()) {
    const quantum = Math.min(15, Math.trunc(Math.fround(Math.fround(number * inverse) + 8.5)));
    numbers[i] = (quantum - 8) * stored;
  }
}

function floatsOf({ dtype, bytes }: StoredTensor): Float32Array {
  if (dtype === 'F32') return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return Float32Array.from({ length: bytes.length / 2 }, (_, i) => halfValue(bytes.readUInt16LE(2 * i)));
}

function rounded(tensor: StoredTensor): StoredTensor {
  const { name, dtype, shape } = tensor;
  const [rows = 0, inputs = 0] = shape;
  const isMatrix = shape.length === 2 && rows * inputs >= fewElements && inputs % blockLength === 0;
  if (!isMatrix || others.test(name)) return tensor;
  if (dtype !== 'F32' && dtype !== 'F16') throw new Error(`${name} is ${dtype}: only F32 and F16 are read here`);
  const numbers = floatsOf(tensor);
  for (let i = 0; i < numbers.length; i += blockLength) roundBlock(numbers.subarray(i, i + blockLength));
  return { name, dtype: 'F32', shape, bytes: Buffer.from(numbers.buffer) };
}

/** The files of a checkpoint in `folder`, with its large matrices rounded. */
export function roundedToQ40(folder: string): Record<string, Blob> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const files = Object.fromEntries(names.map((name) => [name, new Blob([readFileSync(join(folder, name))])]));
  const { tensors } = readSafetensors(join(folder, 'model.safetensors'));
  return { ...files, 'model.safetensors': new Blob([...safetensorsBytes(tensors.map(rounded))] as BlobPart[]) };
}
