// WAV files: PCM of 8, 16, 24 and 32 bits, float32, float64, A-law and µ-law, any number of channels and any rate.
// Sources: Microsoft and IBM 1991, Multimedia Programming Interface and Data Specifications 1.0; WAVEFORMATEXTENSIBLE;
// ITU-T G.711.

import { ClearformerError } from '../support/error.js';
import { runs, type Steps } from '../support/steps.js';

/** Audio as stored: one array of samples in [-1, 1] per channel. */
export interface Sound {
  channels: Float32Array[];
  /** Samples per second and channel. */
  sampling_rate: number;
}

interface Format {
  channels: number;
  sampling_rate: number;
  bits: number;
  read: Reader;
}

/** The sample at a byte of the data. */
type Reader = (at: number, data: DataView) => number;

const extensible = 0xfffe;
const unknownLength = 0xffffffff; // written by programs that cannot go back to the header

/** Whether `bytes` begin with the header of a WAV file. */
export function isWav(bytes: Uint8Array): boolean {
  return bytes.length >= 12 && text(bytes, 0) === 'RIFF' && text(bytes, 8) === 'WAVE';
}

function text(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

/**
 * Reads a WAV file; n-bit integers are divided by 2^(n-1). Throws `malformed_file` for a file that is truncated or
 * inconsistent, `unsupported` for other encodings, such as ADPCM.
 */
export function* readWav(bytes: Uint8Array): Steps<Sound> {
  if (!isWav(bytes)) throw malformed('does not start as one (RIFF … WAVE)');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: Format | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const [name, start, length] = [text(bytes, at), at + 8, view.getUint32(at + 4, true)];
    if (name === 'data') {
      if (format === undefined) throw malformed('has its samples before their format');
      // Others leave 0, and the whole file's length as wrong.
      const isOpen = length === unknownLength || (length === 0 && view.getUint32(4, true) + 8 !== bytes.length);
      const rest = bytes.length - start;
      return yield* decode(new DataView(view.buffer, view.byteOffset + start, rest), isOpen ? rest : length, format);
    }
    if (start + length > bytes.length) throw malformed(`breaks off in its part '${name}'`);
    if (name === 'fmt ') format = readFormat(view, start, length);
    at = start + length + (length % 2);
  }
  throw malformed('has no samples');
}

function readFormat(view: DataView, start: number, length: number): Format {
  if (length < 16) throw malformed('has too short a format');
  const given = view.getUint16(start, true);
  const hidden = given === extensible && length >= 40;
  const tag = hidden ? view.getUint16(start + 24, true) : given;
  const [channels, sampling_rate] = [view.getUint16(start + 2, true), view.getUint32(start + 4, true)];
  const bits = view.getUint16(start + 14, true);
  const read = readers[tag]?.[bits];
  if (read === undefined) {
    throw new ClearformerError(
      'unsupported',
      `WAV file: encoding ${tag} with ${bits} bits is not supported (known: PCM of 8, 16, 24, 32 bits; float32, float64, A-law, µ-law)`,
    );
  }
  if (channels === 0 || sampling_rate === 0 || view.getUint16(start + 12, true) !== (channels * bits) / 8) {
    throw malformed(`states ${channels} channels, ${sampling_rate} Hz and samples of another size`);
  }
  return { channels, sampling_rate, bits, read };
}

function* decode(data: DataView, length: number, format: Format): Steps<Sound> {
  const { channels, bits, sampling_rate, read } = format;
  if (length > data.byteLength)
    throw malformed(`breaks off: ${length} bytes of samples are stated, ${data.byteLength} there`);
  const width = bits / 8;
  const count = Math.floor(length / (width * channels));
  const all = Array.from({ length: channels }, () => new Float32Array(count));
  for (const [channel, samples] of all.entries()) {
    yield* runs(count, (start, end) => {
      for (let i = start; i < end; i++) samples[i] = read((i * channels + channel) * width, data);
    });
  }
  return { channels: all, sampling_rate };
}

/** By the encoding's number and the bits of a sample. */
const readers: Readonly<Record<number, Readonly<Record<number, Reader>>>> = {
  // PCM
  1: {
    8: (at, data) => (data.getUint8(at) - 128) / 2 ** 7,
    16: (at, data) => data.getInt16(at, true) / 2 ** 15,
    24: (at, data) => (data.getUint16(at, true) + data.getInt8(at + 2) * 2 ** 16) / 2 ** 23,
    32: (at, data) => data.getInt32(at, true) / 2 ** 31,
  },
  // Floating point
  3: { 32: (at, data) => data.getFloat32(at, true), 64: (at, data) => data.getFloat64(at, true) },
  6: { 8: (at, data) => aLaw(data.getUint8(at) ^ 0x55) / 2 ** 15 },
  7: { 8: (at, data) => muLaw(data.getUint8(at) ^ 0xff) / 2 ** 15 },
};

// Of a byte of both laws the highest bit is the sign, the next three the exponent, the last four the mantissa.

/** 16 bits of A-law, whose least exponent is linear. */
function aLaw(byte: number): number {
  const [exponent, mantissa] = [(byte >> 4) & 7, ((byte & 15) << 4) + 8];
  const size = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return byte & 0x80 ? size : -size;
}

/** 16 bits of µ-law. */
function muLaw(byte: number): number {
  const size = ((((byte & 15) << 3) + 0x84) << ((byte >> 4) & 7)) - 0x84;
  return byte & 0x80 ? 0 - size : size;
}

function malformed(why: string): ClearformerError {
  return new ClearformerError('malformed_file', `WAV file: ${why}`);
}
