// GGUF files of float32 vectors, as llama.cpp and repeng exchange control vectors: read with every bound checked, and
// written. Source: ggml's docs/gguf.md (versions 2 and 3, little-endian).

import { copied } from '../../support/copied.js';
import { ClearformerError } from '../../support/error.js';

/** The keys and vectors of a file. Of other values than texts and numbers the keys are not kept. */
export interface GgufVectors {
  values: Map<string, string | number>;
  vectors: Map<string, Float32Array<ArrayBuffer>>;
}

const malformed = (why: string) => new ClearformerError('malformed_file', `GGUF: ${why}`);

const defaultAlignment = 32;
const longestText = 1 << 16;
const mostEntries = 1 << 16;
/** Bytes of the types of values: uint8, int8, uint16, int16, uint32, int32, float32, bool; then text and array. */
const sizes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
const textType = 8;
const arrayType = 9;

/** A place in the file, which is never read beyond its end. */
class Reader {
  readonly #view: DataView;
  at = 0;

  constructor(readonly bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  take(count: number): number {
    const from = this.at;
    if (count > this.bytes.length - from)
      throw malformed(`ends at byte ${this.bytes.length}, within a value of ${count}`);
    this.at = from + count;
    return from;
  }

  u32(): number {
    return this.#view.getUint32(this.take(4), true);
  }

  /** A count of 64 bits, no larger than `most`. */
  count(what: string, most: number): number {
    const value = this.#view.getBigUint64(this.take(8), true);
    if (value > BigInt(most)) throw malformed(`${what} is ${value}, at most ${most} are read`);
    return Number(value);
  }

  text(): string {
    const from = this.take(this.count('the length of a text', longestText));
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.bytes.subarray(from, this.at));
    } catch (cause) {
      throw new ClearformerError('malformed_file', `GGUF: the text at byte ${from} is not UTF-8`, {}, cause);
    }
  }

  /** A value, or undefined for one that is no text and no number. */
  value(type: number): string | number | undefined {
    if (type === textType) return this.text();
    if (type === arrayType) return this.#skipArray();
    const size = sizes[type];
    if (size === undefined) throw malformed(`there is no type of value ${type}`);
    const from = this.take(size);
    const view = this.#view;
    switch (type) {
      case 0:
        return view.getUint8(from);
      case 1:
        return view.getInt8(from);
      case 2:
        return view.getUint16(from, true);
      case 3:
        return view.getInt16(from, true);
      case 4:
        return view.getUint32(from, true);
      case 5:
        return view.getInt32(from, true);
      case 6:
        return view.getFloat32(from, true);
      case 12:
        return view.getFloat64(from, true);
      default:
        return undefined;
    }
  }

  #skipArray(): undefined {
    const type = this.u32();
    const size = sizes[type];
    const count = this.count('the length of an array', this.bytes.length);
    if (size === undefined || type === arrayType) throw malformed(`an array of values of type ${type}`);
    if (type === textType) for (let i = 0; i < count; i++) this.text();
    else this.take(count * size);
  }
}

/** Reads a file. Throws `malformed_file`, or `unsupported` for tensors that are no float32 vectors. */
export function readGguf(bytes: Uint8Array): GgufVectors {
  const reader = new Reader(bytes);
  if (reader.u32() !== 0x46554747) throw malformed('does not begin with GGUF');
  const version = reader.u32();
  if (version !== 2 && version !== 3)
    throw new ClearformerError('unsupported', `GGUF: version ${version} (known: 2, 3)`);
  const tensors = reader.count('the number of tensors', mostEntries);
  const entries = reader.count('the number of keys', mostEntries);
  const values: GgufVectors['values'] = new Map();
  for (let i = 0; i < entries; i++) {
    const key = reader.text();
    if (values.has(key)) throw malformed(`the key ${JSON.stringify(key)} exists twice`);
    const value = reader.value(reader.u32());
    if (value !== undefined) values.set(key, value);
  }
  const places = Array.from({ length: tensors }, () => placeOf(reader));
  return { values, vectors: vectorsAt(reader, places, alignmentOf(values)) };
}

interface Place {
  name: string;
  length: number;
  offset: number;
}

function placeOf(reader: Reader): Place {
  const name = reader.text();
  const axes = reader.u32();
  if (axes < 1 || axes > 4) throw malformed(`${name} has ${axes} axes`);
  const dims = Array.from({ length: axes }, () => reader.count(`an extent of ${name}`, reader.bytes.length));
  const type = reader.u32();
  if (type !== 0 || dims.some((extent, axis) => axis > 0 && extent !== 1)) {
    const problem = `GGUF: ${name} is no vector of float32 (type ${type}, dims ${dims.join(' x ')})`;
    throw new ClearformerError('unsupported', problem, { tensor: name });
  }
  return { name, length: dims[0] as number, offset: reader.count(`the offset of ${name}`, reader.bytes.length) };
}

function alignmentOf(values: GgufVectors['values']): number {
  const alignment = values.get('general.alignment') ?? defaultAlignment;
  if (typeof alignment === 'number' && Number.isInteger(Math.log2(alignment)) && alignment >= 1) return alignment;
  throw malformed(`general.alignment is ${alignment}, no power of two`);
}

function vectorsAt(reader: Reader, places: readonly Place[], alignment: number): GgufVectors['vectors'] {
  const start = Math.ceil(reader.at / alignment) * alignment;
  const vectors: GgufVectors['vectors'] = new Map();
  let end = 0;
  for (const { name, length, offset } of [...places].sort((a, b) => a.offset - b.offset)) {
    const from = start + offset;
    const to = from + 4 * length;
    if (vectors.has(name)) throw malformed(`the tensor ${JSON.stringify(name)} exists twice`);
    if (offset % alignment !== 0) throw malformed(`${name} begins at ${offset}, no multiple of ${alignment}`);
    if (to > reader.bytes.length) throw malformed(`${name} ends at byte ${to} of ${reader.bytes.length}`);
    if (offset < end) throw malformed(`${name} overlaps the tensor before it`);
    end = offset + 4 * length;
    vectors.set(name, new Float32Array(copied(reader.bytes.subarray(from, to)).buffer as ArrayBuffer));
  }
  return vectors;
}

/** Writes a file of version 3; whole numbers become uint32. */
export function writeGguf({ values, vectors }: GgufVectors): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const number = (value: number, bytes: 4 | 8) => {
    const part = new DataView(new ArrayBuffer(bytes));
    part.setUint32(0, value, true);
    parts.push(new Uint8Array(part.buffer));
  };
  const text = (value: string) => {
    const encoded = new TextEncoder().encode(value);
    number(encoded.length, 8);
    parts.push(encoded);
  };
  number(0x46554747, 4);
  number(3, 4);
  number(vectors.size, 8);
  number(values.size, 8);
  for (const [key, value] of values) {
    text(key);
    number(typeof value === 'string' ? textType : 4, 4);
    if (typeof value === 'string') text(value);
    else number(value, 4);
  }
  const padded = (size: number) => Math.ceil(size / defaultAlignment) * defaultAlignment;
  let offset = 0;
  for (const [name, { length }] of vectors) {
    text(name);
    number(1, 4);
    number(length, 8);
    number(0, 4); // float32
    number(offset, 8);
    offset += padded(4 * length);
  }
  const header = parts.reduce((sum, part) => sum + part.length, 0);
  const file = new Uint8Array(padded(header) + offset);
  let at = 0;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  at = padded(header);
  for (const vector of vectors.values()) {
    file.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength), at);
    at += padded(vector.byteLength);
  }
  return file;
}
