// Decodes sound files: WAV files everywhere, others by the engine where it can.

import type { Browser } from '../support/browser_types.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { inSlices } from '../support/steps.js';
import { isWav, readWav, type Sound } from './wav.js';

/**
 * The samples of a sound file; `bufferOf` converts what an OfflineAudioContext at about `rate` hertz decodes, which takes
 * the memory. Throws `malformed_file` for an invalid WAV file, `unsupported` for what is not decoded here.
 */
export async function decodeFile(
  bytes: Uint8Array,
  rate: number,
  bufferOf: (buffer: Browser<'AudioBuffer'>) => Sound,
): Promise<Sound> {
  if (isWav(bytes)) return inSlices(readWav(bytes), undefined);
  const what = `sound file (${formatOf(bytes)})`;
  if (typeof OfflineAudioContext !== 'function') {
    throw new ClearformerError(
      'unsupported',
      `${what}: only WAV files are decoded here; convert it (ffmpeg -i FILE sound.wav), or pass samples as { data, sampling_rate }`,
    );
  }
  // decodeAudioData resamples to the context's rate; of others than these, engines refuse some and attenuate some.
  const usual = rate >= 8000 && rate <= 96_000 ? rate : 48_000;
  try {
    return bufferOf(await new OfflineAudioContext(1, 1, usual).decodeAudioData(bytes.buffer as ArrayBuffer));
  } catch (cause) {
    const message = `${what}: this engine does not decode it (${messageOf(cause)})`;
    throw new ClearformerError('unsupported', message, {}, cause);
  }
}

/** Sound formats by what their files begin with. */
const formats = [
  ['AIFF', /^FORM.{4}AIF[CF]/s],
  ['FLAC', /^fLaC/],
  ['Ogg', /^OggS/],
  ['MP4, as M4A', /^.{4}ftyp/s],
  ['WebM or Matroska', /^.E\xdf\xa3/],
  ['WAV of more than 4 GB', /^(RF64|BW64)/],
  ['MP3', /^(ID3|\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff])/],
  ['AAC', /^\xff[\xf0\xf1\xf8\xf9]/],
  ['empty', /^$/],
] as const;

/** The name of a file's format, for messages. */
function formatOf(bytes: Uint8Array): string {
  const start = String.fromCharCode(...bytes.subarray(0, 12));
  return formats.find(([, begins]) => begins.test(start))?.[0] ?? 'of an unknown format';
}
