// Image and audio files made in memory, as small as their formats allow.

import { crc32, deflateSync } from 'node:zlib';

const u16 = (value: number) => [(value >> 8) & 255, value & 255];
const u32 = (value: number) => [...u16(value >>> 16), ...u16(value & 0xffff)];
const ascii = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0));

function pngChunk(name: string, data: ArrayLike<number>): number[] {
  const body = [...ascii(name), ...Array.from(data)];
  return [...u32(data.length), ...body, ...u32(crc32(Uint8Array.from(body)))];
}

/** An RGBA image as PNG. A gamma other than that of screens makes some decoders change its colours. */
export function png(rgba: Uint8Array, width: number, height: number, gamma?: number): Uint8Array {
  const rows = Array.from({ length: height }, (_, y) => [0, ...rgba.subarray(y * width * 4, (y + 1) * width * 4)]);
  const header = pngChunk('IHDR', [...u32(width), ...u32(height), 8, 6, 0, 0, 0]);
  const colours = gamma === undefined ? [] : pngChunk('gAMA', u32(gamma));
  const data = pngChunk('IDAT', deflateSync(Uint8Array.from(rows.flat())));
  return Uint8Array.from([0x89, ...ascii('PNG\r\n\x1a\n'), ...header, ...colours, ...data, ...pngChunk('IEND', [])]);
}

/** A JPEG file with an EXIF orientation inserted before its other segments. */
export function withOrientation(jpeg: Uint8Array, orientation: number): Uint8Array {
  const entry = [...u16(0x0112), ...u16(3), ...u32(1), ...u16(orientation), 0, 0];
  const exif = [...ascii('Exif\0\0MM'), ...u16(42), ...u32(8), ...u16(1), ...entry, ...u32(0)];
  return Uint8Array.from([0xff, 0xd8, 0xff, 0xe1, ...u16(exif.length + 2), ...exif, ...jpeg.subarray(2)]);
}

/** A CRC of `bits` bits, as in FLAC: highest bit first, starting from 0. */
function remainder(bytes: readonly number[], polynomial: number, bits: number): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << (bits - 8);
    for (let i = 0; i < 8; i++) crc = crc & (1 << (bits - 1)) ? (crc << 1) ^ polynomial : crc << 1;
    crc &= (1 << bits) - 1;
  }
  return crc;
}

/** Mono samples of 16 bits at 16 kHz as FLAC, in one uncompressed frame; 16 to 65535 of them. */
export function flac(samples: Int16Array): Uint8Array {
  const { length } = samples;
  const rate = (16000 << 4) | 0; // 20 bits of rate, 3 of channels - 1, 1 of the highest bit of (bits - 1)
  const info = [...u16(length), ...u16(length), 0, 0, 0, 0, 0, 0, ...u32(rate).slice(1), 15 << 4, ...u32(length)];
  const header = [0xff, 0xf8, 0x75, 0x08, 0, ...u16(length - 1)]; // 16 bits of block size; 16 kHz; mono; 16 bits; frame 0
  const frame = [...header, remainder(header, 0x07, 8), 0x02, ...Array.from(samples, u16).flat()];
  return Uint8Array.from([
    ...ascii('fLaC'),
    ...[0x80, 0, 0, 34, ...info, ...new Array(16).fill(0)],
    ...frame,
    ...u16(remainder(frame, 0x8005, 16)),
  ]);
}
