// What the calls of all feature extractors have in common: their options, and the lengths of a batch of sounds.

import type { SmallFileOptions } from '../checkpoint/small_files.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import { type AudioInput, read_audio } from './audio_input.js';

/** How a feature extractor is loaded: the options of a model that concern files. */
export interface FeatureExtractorLoadOptions extends SmallFileOptions {}

/** Options of one call. */
export interface FeatureExtractorCallOptions {
  /**
   * `max_length` (Whisper's default) pads to max_length, `longest` to the longest of the batch, `do_not_pad` (the default
   * of wav2vec 2.0) not at all.
   */
  padding?: 'max_length' | 'longest' | 'do_not_pad' | undefined;
  /** Truncate what is longer than max_length. Default: true for Whisper, false for wav2vec 2.0. */
  truncation?: boolean | undefined;
  /** In samples; Whisper's default: chunk_length seconds. */
  max_length?: number | undefined;
  /** Mark what is audio (1) and what is padding (0); default: the file's setting. */
  return_attention_mask?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

const callOptions = ['padding', 'truncation', 'max_length', 'return_attention_mask', 'signal'];

/** Samples of one audio or of several at one rate, after the names of the options were checked. */
export function soundsOf(
  audio: AudioInput | readonly AudioInput[],
  rate: number,
  options: { readonly signal?: AbortSignal | undefined },
  known: readonly string[] = callOptions,
): Promise<Float32Array[]> {
  checkOptions('feature extractor', options, known);
  const list = Array.isArray(audio) ? (audio as readonly AudioInput[]) : [audio as AudioInput];
  return Promise.all(list.map((one) => read_audio(one, rate, { signal: options.signal })));
}

/** How many samples each sound keeps, and how many each row of the batch gets. */
export function lengthsOf(
  sounds: readonly Float32Array[],
  padding: FeatureExtractorCallOptions['padding'],
  truncation: boolean,
  max_length: number | undefined,
): { kept: number[]; length: number } {
  if (!['max_length', 'longest', 'do_not_pad'].includes(padding as string)) throw refused('padding', padding);
  if (typeof truncation !== 'boolean') throw refused('truncation', truncation);
  const most = max_length ?? (truncation || padding === 'max_length' ? 0 : Number.POSITIVE_INFINITY);
  if (max_length !== undefined ? !(Number.isInteger(most) && most > 0) : most === 0)
    throw refused('max_length', max_length);
  const kept = sounds.map((sound) => (truncation ? Math.min(sound.length, most) : sound.length));
  const longest = Math.max(0, ...kept);
  if (padding === 'do_not_pad' && kept.some((length) => length !== longest)) {
    throw new ClearformerError(
      'shape_mismatch',
      `feature extractor: without padding the sounds of a batch must be equally long, they have ${kept.join(', ')} samples`,
    );
  }
  return { kept, length: padding === 'max_length' ? Math.max(longest, most) : longest };
}

/** Tensors of equal shape as one. Throws `invalid_argument` if there are none. */
export function stacked(rows: readonly Tensor<'float32'>[]): Tensor<'float32'> {
  const [first] = rows;
  if (first === undefined) throw noSound();
  const all = new Float32Array(first.size * rows.length);
  rows.forEach(({ data }, i) => {
    all.set(data, i * first.size);
  });
  return new Tensor('float32', all, [rows.length, ...first.dims]);
}

function refused(option: string, value: unknown): ClearformerError {
  return new ClearformerError('invalid_argument', `feature extractor: ${option} cannot be ${textOf(value)}`, {
    option,
  });
}

/** The error for a batch without sounds. */
export const noSound = (): ClearformerError =>
  new ClearformerError('invalid_argument', 'feature extractor: needs at least one sound');
