// The weights as a GGUF file for llama.cpp: GPT-2 in F32, Q8_0 or Q4_0, as its own converter and quantiser write it, but
// for the tied output matrix, which is Q8_0 in both quantised files (llama.cpp's Q4_0 has it in Q6_K).

import { halfBits } from '../../../scripts/models/half.js';
import { writeParts } from '../../../scripts/models/write_parts.js';
import { tokenRows } from '../contenders/inputs.js';
import { transposed } from '../onnx/quantize.js';
import type { Precision, Shape } from '../types.js';
import { epsilons } from './shapes.js';
import type { Dense, Norm, Weights } from './weights.js';

const blockSize = 32;
const alignment = 32;
/** ggml_type, of a tensor in the file. */
const types = { F32: 0, Q4_0: 2, Q8_0: 8 } as const;
type Type = keyof typeof types;

/** Blocks of 32 along a row: a half-precision scale and 32 signed bytes. */
export function toQ8(values: Float32Array): Buffer {
  const bytes = Buffer.alloc((values.length / blockSize) * 34);
  for (let block = 0; block * blockSize < values.length; block += 1) {
    const own = values.subarray(block * blockSize, (block + 1) * blockSize);
    const largest = own.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
    const scale = largest / 127;
    const at = block * 34;
    bytes.writeUInt16LE(halfBits(scale), at);
    for (let i = 0; i < blockSize; i += 1) bytes.writeInt8(scale ? Math.round((own[i] ?? 0) / scale) : 0, at + 2 + i);
  }
  return bytes;
}

/** Blocks of 32 along a row: a half-precision scale and 32 nibbles, the first 16 values in the lower halves. */
export function toQ4(values: Float32Array): Buffer {
  const bytes = Buffer.alloc((values.length / blockSize) * 18);
  for (let block = 0; block * blockSize < values.length; block += 1) {
    const own = values.subarray(block * blockSize, (block + 1) * blockSize);
    const extreme = own.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most), 0);
    const scale = extreme / -8;
    const nibble = (i: number): number => (scale ? Math.min(15, Math.floor((own[i] ?? 0) / scale + 8.5)) : 8);
    const at = block * 18;
    bytes.writeUInt16LE(halfBits(scale), at);
    for (let i = 0; i < 16; i += 1) bytes[at + 2 + i] = nibble(i) | (nibble(i + 16) << 4);
  }
  return bytes;
}

interface GgufTensor {
  name: string;
  /** ggml's order: the contiguous dimension first. */
  dims: readonly number[];
  type: Type;
  data: Float32Array;
}

const packed: Readonly<Record<Type, (data: Float32Array) => Buffer>> = {
  F32: ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength),
  Q8_0: toQ8,
  Q4_0: toQ4,
};
const bytesOf = ({ data, type }: GgufTensor): number =>
  type === 'F32' ? data.byteLength : (data.length / blockSize) * (type === 'Q8_0' ? 34 : 18);
const aligned = (bytes: number): number => Math.ceil(bytes / alignment) * alignment;

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value: string): Buffer => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

/** A key's value with its type: an integer, a float, a text, or an array of texts or integers. */
type Value = { u32: number } | { f32: number } | { text: string } | { texts: string[] } | { i32s: number[] };

function valueBytes(value: Value): Buffer {
  if ('u32' in value) return Buffer.concat([u32(4), u32(value.u32)]);
  if ('f32' in value) return Buffer.concat([u32(6), Buffer.from(Float32Array.of(value.f32).buffer)]);
  if ('text' in value) return Buffer.concat([u32(8), text(value.text)]);
  if ('texts' in value) return Buffer.concat([u32(9), u32(8), u64(value.texts.length), ...value.texts.map(text)]);
  return Buffer.concat([u32(9), u32(5), u64(value.i32s.length), ...value.i32s.map(u32)]);
}

/**
 * GPT-2's characters for the bytes of ASCII: the printable ones themselves, the others from U+0100. The server cannot
 * answer with single bytes beyond ASCII.
 */
function byteCharacters(): string[] {
  let next = 256;
  return Array.from({ length: 128 }, (_, byte) => String.fromCodePoint(byte >= 33 && byte <= 126 ? byte : next++));
}

/** Of a token in the vocabulary: one that the tokenizer makes by merging, and one that it finds in texts as it is. */
const tokenTypes = { merged: 1, verbatim: 4 };

/**
 * The bytes and numbered tokens. wllama takes texts only: the tokens of the measured prompts (contenders/wllama.ts writes
 * them) are found verbatim, and no others, since it searches a text for each of them.
 */
function metadata({ d, layers, heads, hidden, vocabulary, positions }: Shape): Record<string, Value> {
  const bytes = byteCharacters();
  const prompts = new Set(tokenRows(1, positions, vocabulary).flat());
  const textOf = (id: number): string => (prompts.has(id) ? undefined : bytes.shift()) ?? `<${id}>`;
  const tokens = Array.from({ length: vocabulary }, (_, id) => textOf(id));
  return {
    'general.architecture': { text: 'gpt2' },
    'general.name': { text: 'random weights' },
    'gpt2.context_length': { u32: positions },
    'gpt2.embedding_length': { u32: d },
    'gpt2.feed_forward_length': { u32: hidden },
    'gpt2.block_count': { u32: layers },
    'gpt2.attention.head_count': { u32: heads },
    'gpt2.attention.layer_norm_epsilon': { f32: epsilons.gpt2 },
    'tokenizer.ggml.model': { text: 'gpt2' },
    'tokenizer.ggml.pre': { text: 'gpt-2' },
    'tokenizer.ggml.tokens': { texts: tokens },
    'tokenizer.ggml.token_type': {
      i32s: tokens.map((_, i) => (prompts.has(i) ? tokenTypes.verbatim : tokenTypes.merged)),
    },
    'tokenizer.ggml.merges': { texts: ['t o'] },
    'tokenizer.ggml.bos_token_id': { u32: vocabulary - 1 },
    'tokenizer.ggml.eos_token_id': { u32: vocabulary - 1 },
  };
}

function tensorsOf({ d, hidden, positions, vocabulary }: Shape, weights: Weights, type: Type): GgufTensor[] {
  const vector = (name: string, data: Float32Array): GgufTensor => ({ name, dims: [data.length], type: 'F32', data });
  const norm = (name: string, { gamma, beta }: Norm): GgufTensor[] => [
    vector(`${name}.weight`, gamma),
    vector(`${name}.bias`, beta),
  ];
  const dense = (name: string, { weight, bias }: Dense, inputs: number, outputs: number): GgufTensor[] => [
    { name: `${name}.weight`, dims: [inputs, outputs], type, data: transposed(weight, inputs, outputs) },
    vector(`${name}.bias`, bias),
  ];
  const { tokens, positions: places } = weights.embeddings;
  return [
    { name: 'token_embd.weight', dims: [d, vocabulary], type: type === 'F32' ? 'F32' : 'Q8_0', data: tokens },
    { name: 'position_embd.weight', dims: [d, positions], type: 'F32', data: places },
    ...norm('output_norm', weights.norm),
    ...weights.layers.flatMap((layer, i) => [
      ...norm(`blk.${i}.attn_norm`, layer.norm1),
      ...dense(`blk.${i}.attn_qkv`, layer.qkv, d, 3 * d),
      ...dense(`blk.${i}.attn_output`, layer.mix, d, d),
      ...norm(`blk.${i}.ffn_norm`, layer.norm2),
      ...dense(`blk.${i}.ffn_up`, layer.up, d, hidden),
      ...dense(`blk.${i}.ffn_down`, layer.down, hidden, d),
    ]),
  ];
}

export const ggufTypes: Readonly<Record<Precision, Type>> = { fp32: 'F32', int8: 'Q8_0', int4: 'Q4_0' };

/** Writes a GPT-2 in GGUF, version 3. */
export function writeGguf(file: string, shape: Shape, weights: Weights, precision: Precision): void {
  const tensors = tensorsOf(shape, weights, ggufTypes[precision]);
  const keys = Object.entries(metadata(shape));
  const parts = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(keys.length)];
  for (const [key, value] of keys) parts.push(text(key), valueBytes(value));
  let offset = 0;
  for (const tensor of tensors) {
    const { name, dims, type } = tensor;
    parts.push(text(name), u32(dims.length), ...dims.map(u64), u32(types[type]), u64(offset));
    offset += aligned(bytesOf(tensor));
  }
  const header = Buffer.concat(parts);
  const padded = (bytes: Buffer): Buffer[] => [bytes, Buffer.alloc(aligned(bytes.byteLength) - bytes.byteLength)];
  writeParts(file, [...padded(header), ...tensors.flatMap(({ type, data }) => padded(packed[type](data)))]);
}
