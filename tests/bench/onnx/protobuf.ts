// Serialises protocol buffers: https://protobuf.dev/programming-guides/encoding. A message is a list of fields, each
// made by one of these functions; `message` concatenates them. Without Node's modules, since a page uses it as well.

export type Bytes = Uint8Array<ArrayBuffer>;

const varintWire = 0;
const lengthWire = 2;
const fixed32Wire = 5;

function varint(value: number | bigint): Bytes {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

/** The parts one after the other. */
export function joined(parts: readonly Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.byteLength;
  }
  return all;
}

/** Fields of a message, in lists of lists. */
export type Fields = readonly (Bytes | Fields)[];

function flat(fields: Fields): Bytes[] {
  return fields.flatMap((each) => (each instanceof Uint8Array ? [each] : flat(each)));
}

const tag = (field: number, wire: number): Bytes => varint((field << 3) | wire);

/** An integer; negative ones take ten bytes, like int64. */
export const integer = (field: number, value: number | bigint): Bytes =>
  joined([tag(field, varintWire), varint(value)]);

export function float(field: number, value: number): Bytes {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return joined([tag(field, fixed32Wire), bytes]);
}

/** Bytes, or an already serialised message. */
export const bytes = (field: number, value: Bytes): Bytes =>
  joined([tag(field, lengthWire), varint(value.byteLength), value]);

export const text = (field: number, value: string): Bytes => bytes(field, new TextEncoder().encode(value));

/** A nested message of the given fields. */
export const message = (field: number, fields: Fields): Bytes => bytes(field, joined(flat(fields)));

/** The outermost message. */
export const root = (fields: Fields): Bytes => joined(flat(fields));
