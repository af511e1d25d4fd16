// Long audio in passes: if the last segment of a pass is incomplete, the next pass starts at its beginning, as in
// transformers' generate() for Whisper. Source: Radford et al. 2022, arXiv 2212.04356, section 3.8, without its
// fallbacks.

import { expectNone } from '../checkpoint/file_rules.js';
import type { GenerateOptions } from '../models/generation_options.js';
import type { GenerateOutput } from '../models/generation_output.js';
import type { GenerativeModel } from '../models/generative_model.js';
import { plainValue } from '../models/plain_values.js';
import { whisperConfig } from '../models/whisper_prompt.js';
import { brokenHeadRules } from '../models/whisper_rules.js';
import { ClearformerError } from '../support/error.js';
import { Tensor } from '../tensor/tensor.js';
import { rowOf } from './scores.js';
import { tokenPositions } from './token_times.js';

/** The recognised tokens of one audio of a batch. */
export interface SpokenTokens {
  ids: number[];
  /** The end of each token in seconds from the start of the audio; on request. */
  times: number[];
}

export interface Passes {
  model: GenerativeModel;
  /** [audio, mel bin, frame] */
  input_features: Tensor<'float32'>;
  /** The decoder's prompt for each audio. */
  prompt: readonly (readonly number[])[];
  /** The number of frames with audio of each, the rest is padding. */
  frames: readonly number[];
  /** Options of generate(). */
  settings: Settings;
  times: 'none' | 'segments' | 'words';
  /** Seconds between two positions of the encoder's output, which are two frames apart. */
  precision: number;
}

type Settings = GenerateOptions & { return_dict_in_generate?: false | undefined };

const framesAPosition = 2; // the encoder's second convolution has a stride of 2

interface Sound extends SpokenTokens {
  row: number;
  /** The first frame of the next pass. */
  at: number;
}

/** The tokens of each audio. */
export async function spokenTokens(passes: Passes): Promise<SpokenTokens[]> {
  const { input_features, prompt } = passes;
  const total = input_features.dims[2] ?? 0;
  const sounds = prompt.map((_, row): Sound => ({ row, at: 0, ids: [], times: [] }));
  for (let open = sounds; open.length > 0; open = open.filter(({ at }) => at < total)) {
    const found = await pass(passes, open);
    open.forEach((sound, i) => {
      const { ids, times } = found[i] as SpokenTokens;
      const { kept, frames } = segmentsOf(ids, firstTimeOf(passes.model));
      const start = (sound.at / framesAPosition) * passes.precision;
      sound.ids.push(...ids.slice(0, kept));
      sound.times.push(...times.slice(0, kept).map((time) => Math.fround(time + start)));
      sound.at =
        frames === undefined || frames === 0 ? Math.min(total, sound.at + windowOf(passes)) : sound.at + frames;
    });
  }
  return sounds;
}

/** The first timestamp token; beyond all tokens if a model has none. */
export function firstTimeOf(model: GenerativeModel): number {
  return (whisperConfig(model).no_timestamps_token_id ?? Number.MAX_SAFE_INTEGER - 1) + 1;
}

/** The number of positions of the encoder's output. */
export function sourcePositions(model: GenerativeModel): number {
  return Number(model.config.max_source_positions ?? 1500);
}

/** The model's window in frames. */
function windowOf({ model }: Passes): number {
  return framesAPosition * sourcePositions(model);
}

/**
 * The number of tokens that belong to complete segments, and the frame at which the next pass begins; undefined: after
 * the window. Two successive timestamps are the end of a segment and the start of the next; a single one at the end
 * means that no speech follows.
 */
function segmentsOf(ids: readonly number[], first: number): { kept: number; frames?: number } {
  const isTime = (i: number) => i >= 0 && (ids[i] as number) >= first;
  const last = ids.length - 1;
  const pair = ids.findLastIndex((_, i) => isTime(i) && isTime(i - 1));
  const endsWithOne = isTime(last) && last > 0 && !isTime(last - 1);
  if (pair < 0 || endsWithOne) return { kept: ids.length };
  return { kept: pair + 1, frames: ((ids[pair - 1] as number) - first) * framesAPosition };
}

async function pass(passes: Passes, sounds: readonly Sound[]): Promise<SpokenTokens[]> {
  const { model, prompt, settings, times } = passes;
  const input_features = cutOut(passes, sounds);
  const decoder_input_ids = sounds.map(({ row }) => [...(prompt[row] as readonly number[])]);
  const inputs = { input_features, decoder_input_ids };
  const length = decoder_input_ids[0]?.length ?? 0;
  const written = (sequences: Tensor<'int64'>) =>
    sounds.map((_, i) => untilEnd(Array.from(sequences.slice(i).data.slice(length), Number), passes));
  if (times !== 'words') {
    return written(await model.generate(inputs, settings)).map(({ ids }) => ({ ids, times: [] }));
  }
  const heads = alignmentHeads(model);
  const names_filter = [...new Set(heads.map(([layer]) => patternOf(layer)))];
  const observed = { ...settings, names_filter, return_dict_in_generate: true, use_cache: false } as const;
  const output = await model.generate(inputs, observed);
  return written(output.sequences).map(({ ids, count }, i) => {
    const weights = weightsOf(output, i, { count, heads, sounds: sounds.length });
    const frames = (passes.frames[(sounds[i] as Sound).row] as number) - (sounds[i] as Sound).at;
    const positions = weights[0]?.[0]?.length ?? 1;
    const heard = Math.min(positions, Math.max(1, Math.floor(frames / framesAPosition)));
    const filter = Number(model.config.median_filter_width ?? 7);
    const found = tokenPositions(weights, heard, filter).map((at) => Math.fround(at * passes.precision));
    return { ids, times: found.slice(0, ids.length) };
  });
}

/** The window of each audio: from its current frame, padded with zeros. */
function cutOut(passes: Passes, sounds: readonly Sound[]): Tensor<'float32'> {
  const { input_features } = passes;
  const [, bins = 0, total = 0] = input_features.dims;
  const window = windowOf(passes);
  if (total === window && sounds.length === input_features.dims[0] && sounds.every(({ at }) => at === 0)) {
    return input_features;
  }
  const cut = new Float32Array(sounds.length * bins * window);
  sounds.forEach(({ row, at }, i) => {
    const from = rowOf(input_features, row);
    for (let bin = 0; bin < bins; bin++) {
      const start = bin * total + at;
      cut.set(from.subarray(start, Math.min((bin + 1) * total, start + window)), (i * bins + bin) * window);
    }
  });
  return new Tensor('float32', cut, [sounds.length, bins, window]);
}

/** The tokens before the end token, and their number including it. */
function untilEnd(ids: number[], { model, settings }: Passes): { ids: number[]; count: number } {
  const ends = [plainValue(settings.eos_token_id ?? model.generation_config.eos_token_id)].flat();
  const end = ids.findIndex((id) => ends.includes(id));
  return end < 0 ? { ids, count: ids.length } : { ids: ids.slice(0, end), count: end + 1 };
}

const patternOf = (layer: number) => `decoder.${layer}.cross_attn.hook_pattern` as const;

function alignmentHeads(model: GenerativeModel): readonly (readonly [number, number])[] {
  const { alignment_heads: heads } = whisperConfig(model);
  expectNone(brokenHeadRules(model.generation_config, model.cfg));
  if (heads !== undefined && heads.length > 0) return heads;
  throw new ClearformerError(
    'unsupported',
    "automatic-speech-recognition: return_timestamps: 'word' needs alignment_heads in generation_config.json, which of this model's heads follow the sound; true gives the times of segments",
    { option: 'return_timestamps', file: 'generation_config.json' },
  );
}

/**
 * [head][token][position]: the attention of each head when the decoder processed the token; the last one is not
 * processed.
 */
function weightsOf(
  { cache = [], beam_indices }: GenerateOutput,
  sequence: number,
  { count, heads, sounds }: { count: number; heads: readonly (readonly [number, number])[]; sounds: number },
): Float32Array[][] {
  return heads.map(([layer, head]) =>
    Array.from({ length: count - 1 }, (_, token) => {
      const step = token + 1; // the first one processes the prompt
      const pattern = cache[step]?.[patternOf(layer)] as Tensor<'float32'>; // [row, head, 1, position]
      const [rows = 0, all = 0, , positions = 0] = pattern.dims;
      const row =
        beam_indices === undefined ? sequence * (rows / sounds) : Number(beam_indices.slice(sequence, step).item());
      const start = (row * all + head) * positions;
      return pattern.data.subarray(start, start + positions);
    }),
  );
}
