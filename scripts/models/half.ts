// IEEE 754 binary16 (F16 of safetensors) from binary32, rounded to nearest, ties to even.

const word = new DataView(new ArrayBuffer(4));

/** The 16 bits of the half nearest to `number`; overflow gives infinity, NaN stays NaN. */
export function halfBits(number: number): number {
  word.setFloat32(0, number);
  const bits = word.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00; // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // from 65520 on, the midpoint between the largest half and 2^16
  if (magnitude < 0x38800000) return sign | subnormal(Math.abs(word.getFloat32(0))); // below 2^-14
  // 13 bits of the fraction are dropped and the exponent's bias of 127 becomes 15; a carry propagates into the
  // exponent.
  const odd = (magnitude >>> 13) & 1;
  return sign | ((magnitude - (112 << 23) + 0xfff + odd) >>> 13);
}

// Multiples of 2^-24: 1024 of them are the smallest normal half, with matching bits.
function subnormal(magnitude: number): number {
  const scaled = magnitude * 2 ** 24;
  const below = Math.floor(scaled);
  const rest = scaled - below;
  return below + (rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? 1 : 0);
}

/** Rounds the little-endian binary32 numbers of `bytes` to halves, as little-endian bytes. */
export function halvesOf(bytes: Buffer): Buffer {
  const source = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const halves = Buffer.alloc(bytes.byteLength / 2);
  for (let i = 0; i < halves.byteLength; i += 2) halves.writeUInt16LE(halfBits(source.getFloat32(2 * i, true)), i);
  return halves;
}
