// What can stand for sound, and its way to mono samples at one rate.

import { ClearformerError, messageOf, textOf } from '../support/error.js';
import { resample_audio } from './sample_rate.js';
import { isWav, readWav, type Sound } from './wav.js';

/**
 * Sound: mono samples in [-1, 1] at the rate that is asked for, or with their own rate in hertz; an AudioBuffer; or
 * a sound file by its URL, its path (Node) or its contents. WAV files are read everywhere, others where there is an
 * OfflineAudioContext (browsers).
 */
export type AudioInput =
  | Float32Array
  | { readonly data: Float32Array; readonly sampling_rate: number }
  | AudioBuffer
  | string
  | URL
  | Blob
  | ArrayBuffer
  | Uint8Array;

/**
 * Mono samples at `sampling_rate` (hertz) of any sound: channels are averaged, then brought to the rate. Samples that
 * need neither are given back as they are, not copied. Throws `invalid_argument` for what is no sound, `malformed_file` for a
 * WAV file that is broken, `unsupported` for encodings that nothing here decodes, `file_not_found` or `network_error` for a
 * URL or path that gives nothing.
 */
export async function read_audio(source: AudioInput, sampling_rate = 16000): Promise<Float32Array> {
  const sound = await soundOf(source, sampling_rate);
  return resample_audio(mono(sound.channels), sound.sampling_rate, sampling_rate);
}

async function soundOf(source: AudioInput, rate: number): Promise<Sound> {
  if (source instanceof Float32Array) return { channels: [source], sampling_rate: rate };
  if (typeof source === 'string' || source instanceof URL) {
    const { readNamed } = await import('../support/media_file.js'); // few pages need it
    return fileOf(await readNamed('read_audio', source), rate);
  }
  if (source instanceof Blob) return fileOf(new Uint8Array(await source.arrayBuffer()), rate);
  if (source instanceof ArrayBuffer) return fileOf(new Uint8Array(source), rate);
  if (source instanceof Uint8Array) return fileOf(source, rate);
  if (typeof AudioBuffer === 'function' && source instanceof AudioBuffer) return bufferOf(source);
  const { data, sampling_rate } = (source ?? {}) as { data?: unknown; sampling_rate?: unknown };
  if (data instanceof Float32Array && typeof sampling_rate === 'number') return { channels: [data], sampling_rate };
  throw new ClearformerError(
    'invalid_argument',
    `sound is a Float32Array, { data, sampling_rate }, an AudioBuffer or a sound file (URL, path or contents), not ${textOf(source)}`,
  );
}

async function fileOf(bytes: Uint8Array, rate: number): Promise<Sound> {
  if (isWav(bytes)) return readWav(bytes);
  if (typeof OfflineAudioContext !== 'function') {
    throw new ClearformerError(
      'unsupported',
      'sound file: only WAV files are decoded here; pass samples as { data, sampling_rate }',
    );
  }
  try {
    // The context brings what it decodes to its own rate, and takes the buffer away: so it gets a copy.
    return bufferOf(await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes.slice().buffer));
  } catch (cause) {
    throw new ClearformerError(
      'unsupported',
      `sound file: this engine does not decode it (${messageOf(cause)})`,
      {},
      cause,
    );
  }
}

function bufferOf(buffer: AudioBuffer): Sound {
  const channels = Array.from({ length: buffer.numberOfChannels }, (_, i) => buffer.getChannelData(i));
  return { channels, sampling_rate: buffer.sampleRate };
}

function mono(channels: readonly Float32Array[]): Float32Array {
  const [first] = channels as [Float32Array];
  if (channels.length === 1) return first;
  return first.map((_, i) => channels.reduce((sum, channel) => sum + (channel[i] as number), 0) / channels.length);
}
