// Protocol buffers, written: https://protobuf.dev/programming-guides/encoding. A message is a list of fields, each made
// by one of these functions; `message` joins them.

const VARINT = 0;
const LENGTH = 2;
const FIXED32 = 5;

function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

const tag = (field, wire) => varint((field << 3) | wire);

/** An integer; negative ones take ten bytes, as int64 does. */
export const integer = (field, value) => Buffer.concat([tag(field, VARINT), varint(value)]);

export function float(field, value) {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([tag(field, FIXED32), bytes]);
}

/** Bytes, or a message that was made before. */
export const bytes = (field, value) => Buffer.concat([tag(field, LENGTH), varint(value.byteLength), value]);

export const text = (field, value) => bytes(field, Buffer.from(value));

/** A nested message of the fields given. */
export const message = (field, fields) => bytes(field, Buffer.concat(fields.flat(Number.POSITIVE_INFINITY)));

/** The outermost message. */
export const root = (fields) => Buffer.concat(fields.flat(Number.POSITIVE_INFINITY));
