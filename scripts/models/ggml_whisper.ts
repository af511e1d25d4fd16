// Reads Whisper in whisper.cpp's ggml format, with the tensor names and shapes of Hugging Face's checkpoint.
// The file, little-endian: magic, 11 hyperparameters, the mel filters (rows, columns, floats), the vocabulary (count,
// then length and bytes of each piece), then tensors until the end (number of dims, length of the name, dtype, dims
// with the fastest first, name, values). All numbers but the tensors' values are 32 bits wide.

import { SetupError } from '../toolchain/progress.js';
import { halvesOf } from './half.js';
import type { StoredTensor } from './safetensors.js';

const ggmlMagic = 0x67676d6c; // "ggml"
const hyperparameterCount = 11;
const dtypes: Readonly<Record<number, { name: 'F32' | 'F16'; bytes: number }>> = {
  0: { name: 'F32', bytes: 4 },
  1: { name: 'F16', bytes: 2 },
};

// OpenAI's names on the left. The order matters: names with a prefix must precede those that are their suffix.
const newNames: readonly (readonly [string, string])[] = [
  ['decoder.token_embedding.', 'decoder.embed_tokens.'],
  ['.positional_embedding', '.embed_positions.weight'],
  ['encoder.ln_post.', 'encoder.layer_norm.'],
  ['decoder.ln.', 'decoder.layer_norm.'],
  ['.blocks.', '.layers.'],
  ['.mlp.0.', '.fc1.'],
  ['.mlp.2.', '.fc2.'],
  ['.mlp_ln.', '.final_layer_norm.'],
  ['.cross_attn_ln.', '.encoder_attn_layer_norm.'],
  ['.cross_attn.', '.encoder_attn.'],
  ['.attn_ln.', '.self_attn_layer_norm.'],
  ['.attn.', '.self_attn.'],
  ['_attn.query.', '_attn.q_proj.'],
  ['_attn.key.', '_attn.k_proj.'],
  ['_attn.value.', '_attn.v_proj.'],
  ['_attn.out.', '_attn.out_proj.'],
];

function renamed(name: string): string {
  return `model.${newNames.reduce((text, [theirs, ours]) => text.replace(theirs, ours), name)}`;
}

/** Reads numbers and bytes sequentially; throws if the file is truncated. */
class Reader {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#position === this.#bytes.byteLength;
  }

  take(length: number): Buffer {
    const start = this.#position;
    if (length < 0 || start + length > this.#bytes.byteLength) {
      throw new SetupError(
        `A ggml file of ${this.#bytes.byteLength} bytes ends within ${length} bytes from ${start} on.`,
      );
    }
    this.#position += length;
    return this.#bytes.subarray(start, start + length);
  }

  int32(): number {
    return this.take(4).readInt32LE();
  }

  int32s(count: number): number[] {
    return Array.from({ length: count }, () => this.int32());
  }
}

/** The tensors of the whole file as F16. */
export function readGgmlWhisper(file: Buffer): StoredTensor[] {
  const reader = new Reader(file);
  const magic = reader.int32();
  if (magic !== ggmlMagic) throw new SetupError(`A ggml file starts with ${ggmlMagic}, this one with ${magic}.`);
  reader.int32s(hyperparameterCount);
  const [mels = 0, frequencies = 0] = reader.int32s(2);
  reader.take(4 * mels * frequencies);
  for (let pieces = reader.int32(); pieces > 0; pieces -= 1) reader.take(reader.int32());
  const tensors: StoredTensor[] = [];
  while (!reader.atEnd) tensors.push(readTensor(reader));
  return tensors;
}

function readTensor(reader: Reader): StoredTensor {
  const [rank = 0, nameLength = 0, type = -1] = reader.int32s(3);
  const dims = reader.int32s(rank).reverse();
  const name = renamed(reader.take(nameLength).toString());
  const dtype = dtypes[type];
  if (!dtype) throw new SetupError(`The ggml tensor ${name} has the type ${type}; known: 0 (F32), 1 (F16).`);
  const elements = dims.reduce((product, size) => product * size, 1);
  const bytes = reader.take(elements * dtype.bytes);
  // ggml stores the biases of convolutions as columns.
  const shape = name.endsWith('.bias') ? [elements] : dims;
  return { name, dtype: 'F16', shape, bytes: dtype.name === 'F16' ? bytes : halvesOf(bytes) };
}
