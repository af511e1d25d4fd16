// Serialises protocol buffers: https://protobuf.dev/programming-guides/encoding. A message is a list of fields, each
// made by one of these functions; `message` concatenates them.

const varintWire = 0;
const lengthWire = 2;
const fixed32Wire = 5;

function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** Fields of a message, in lists of lists. */
export type Fields = readonly (Buffer | Fields)[];

function flat(fields: Fields): Buffer[] {
  return fields.flatMap((each) => (Buffer.isBuffer(each) ? [each] : flat(each)));
}

const tag = (field: number, wire: number): Buffer => varint((field << 3) | wire);

/** An integer; negative ones take ten bytes, like int64. */
export const integer = (field: number, value: number | bigint): Buffer =>
  Buffer.concat([tag(field, varintWire), varint(value)]);

export function float(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([tag(field, fixed32Wire), bytes]);
}

/** Bytes, or an already serialised message. */
export const bytes = (field: number, value: Buffer): Buffer =>
  Buffer.concat([tag(field, lengthWire), varint(value.byteLength), value]);

export const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value));

/** A nested message of the given fields. */
export const message = (field: number, fields: Fields): Buffer => bytes(field, Buffer.concat(flat(fields)));

/** The outermost message. */
export const root = (fields: Fields): Buffer => Buffer.concat(flat(fields));
