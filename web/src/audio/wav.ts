// WAV files: PCM of 8, 16, 24 and 32 bits, float32 and float64, any number of channels and any rate.
// Source: Microsoft and IBM 1991, Multimedia Programming Interface and Data Specifications 1.0; WAVEFORMATEXTENSIBLE.

import { ClearformerError } from '../support/error.js';
import { runs, type Steps } from '../support/steps.js';

/** Audio as stored: one array of samples in [-1, 1] per channel. */
export interface Sound {
  channels: Float32Array[];
  /** Samples per second and channel. */
  sampling_rate: number;
}

interface Format {
  /** 1 PCM, 3 floating point. */
  tag: number;
  channels: number;
  sampling_rate: number;
  bits: number;
}

const pcm = 1;
const float = 3;
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
 * inconsistent, `unsupported` for other encodings, such as ADPCM or A-law.
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
  const format = {
    tag: hidden ? view.getUint16(start + 24, true) : given,
    channels: view.getUint16(start + 2, true),
    sampling_rate: view.getUint32(start + 4, true),
    bits: view.getUint16(start + 14, true),
  };
  const known = format.tag === pcm ? [8, 16, 24, 32] : format.tag === float ? [32, 64] : [];
  if (!known.includes(format.bits)) {
    throw new ClearformerError(
      'unsupported',
      `WAV file: encoding ${format.tag} with ${format.bits} bits is not supported (known: PCM of 8, 16, 24, 32 bits; float32, float64)`,
    );
  }
  const frame = (format.channels * format.bits) / 8;
  if (format.channels === 0 || format.sampling_rate === 0 || view.getUint16(start + 12, true) !== frame) {
    throw malformed(`states ${format.channels} channels, ${format.sampling_rate} Hz and samples of another size`);
  }
  return format;
}

function* decode(data: DataView, length: number, format: Format): Steps<Sound> {
  const { channels, bits, sampling_rate } = format;
  if (length > data.byteLength)
    throw malformed(`breaks off: ${length} bytes of samples are stated, ${data.byteLength} there`);
  const width = bits / 8;
  const count = Math.floor(length / (width * channels));
  const real = (at: number) => (bits === 64 ? data.getFloat64(at, true) : data.getFloat32(at, true));
  const read = format.tag === float ? real : readers[bits];
  if (read === undefined) throw malformed('has no samples');
  const all = Array.from({ length: channels }, () => new Float32Array(count));
  for (const [channel, samples] of all.entries()) {
    yield* runs(count, (start, end) => {
      for (let i = start; i < end; i++) samples[i] = read((i * channels + channel) * width, data);
    });
  }
  return { channels: all, sampling_rate };
}

const readers: Readonly<Record<number, (at: number, data: DataView) => number>> = {
  8: (at, data) => (data.getUint8(at) - 128) / 2 ** 7,
  16: (at, data) => data.getInt16(at, true) / 2 ** 15,
  24: (at, data) => (data.getUint16(at, true) + data.getInt8(at + 2) * 2 ** 16) / 2 ** 23,
  32: (at, data) => data.getInt32(at, true) / 2 ** 31,
};

function malformed(why: string): ClearformerError {
  return new ClearformerError('malformed_file', `WAV file: ${why}`);
}
