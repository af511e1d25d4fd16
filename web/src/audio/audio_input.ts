// Decodes audio inputs to mono samples at one rate.

import type { Browser } from '../support/browser_types.js';
import { ClearformerError, textOf } from '../support/error.js';
import { isA, isBlob } from '../support/kinds.js';
import type { MediaFile } from '../support/media_file.js';
import { abortable, checkOptions } from '../support/options.js';
import { inSlices, runs, type Steps } from '../support/steps.js';
import { checkRate, resampled } from './sample_rate.js';
import type { Sound } from './wav.js';

/** Mono samples; wavefile's are doubles. */
type Samples = Float32Array | Float64Array;

/**
 * Audio: mono samples in [-1, 1] at the requested rate (rounded to float32), or with a rate of their own in hertz; an
 * AudioBuffer; or an audio file by its URL, its path (Node) or its contents. WAV files (PCM of 8, 16, 24 and 32 bits, float32, float64,
 * A-law and µ-law) are read everywhere, other formats where there is an OfflineAudioContext (browsers).
 */
export type AudioInput =
  | Samples
  | { readonly data: Samples; readonly sampling_rate: number }
  | Browser<'AudioBuffer'>
  | string
  | URL
  | Blob
  | ArrayBuffer
  | Uint8Array;

/**
 * Mono samples of any audio at `sampling_rate` (hertz): channels are averaged, then resampled. Samples that
 * need neither are returned as they are, without a copy. Throws `invalid_argument` for anything but audio,
 * `malformed_file` for an invalid WAV file, `unsupported` for encodings that cannot be decoded here, `file_not_found`
 * or `network_error` for a URL or path that cannot be read, or the signal's reason.
 */
export async function read_audio(
  source: AudioInput,
  sampling_rate = 16000,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Float32Array> {
  checkOptions('read_audio', options, ['signal']);
  const { signal } = options;
  checkRate(sampling_rate);
  const read = async (sound: Promise<Sound>) => inSlices(atRate(await abortable(sound, signal), sampling_rate), signal);
  if (typeof source === 'string' || isA(source, 'URL', 'ArrayBuffer', 'Uint8Array') || isBlob(source)) {
    const [{ naming, readMedia }, { decodeFile }] = await Promise.all([
      import('../support/media_file.js'), // rarely needed
      import('./sound_file.js'),
    ]);
    const file = readMedia('read_audio', source);
    return naming(source, read(file.then((bytes) => decodeFile(bytes, sampling_rate, bufferOf))));
  }
  return read(soundOf(source, sampling_rate));
}

function* atRate({ channels, sampling_rate: from }: Sound, to: number): Steps<Float32Array> {
  return yield* resampled(yield* mono(channels), from, to);
}

async function soundOf(source: Exclude<AudioInput, MediaFile>, rate: number): Promise<Sound> {
  if (isSamples(source)) return { channels: [rounded(source)], sampling_rate: rate };
  if (isA(source, 'AudioBuffer')) return bufferOf(source);
  const { data, sampling_rate } = (source ?? {}) as { data?: unknown; sampling_rate?: unknown };
  if (isSamples(data) && typeof sampling_rate === 'number') return { channels: [rounded(data)], sampling_rate };
  throw new ClearformerError(
    'invalid_argument',
    `sound is a Float32Array or Float64Array, { data, sampling_rate }, an AudioBuffer or a sound file (URL, path or contents), not ${textOf(source)}`,
  );
}

const isSamples = (value: unknown): value is Samples => isA(value, 'Float32Array', 'Float64Array');
const rounded = (samples: Samples) => (isA(samples, 'Float32Array') ? samples : Float32Array.from(samples));

function bufferOf(buffer: AudioBuffer): Sound {
  const channels = Array.from({ length: buffer.numberOfChannels }, (_, i) => buffer.getChannelData(i));
  return { channels, sampling_rate: buffer.sampleRate };
}

function* mono(channels: readonly Float32Array[]): Steps<Float32Array> {
  const [first] = channels as [Float32Array];
  if (channels.length === 1) return first;
  const out = new Float32Array(first.length);
  yield* runs(out.length, (start, end) => {
    for (let i = start; i < end; i++) {
      let sum = 0;
      for (const channel of channels) sum += channel[i] as number;
      out[i] = sum / channels.length;
    }
  });
  return out;
}
