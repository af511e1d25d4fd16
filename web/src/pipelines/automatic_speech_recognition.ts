// automatic-speech-recognition: speech to text with Whisper, or with a CTC head (ctc_recognition.ts).

import type { AudioInput } from '../audio/audio_input.js';
import { read_audio } from '../audio/audio_input.js';
import { readFeatureExtractor } from '../audio/auto_feature_extractor.js';
import { WhisperFeatureExtractor } from '../audio/feature_extractor.js';
import { readsSamples } from '../audio/feature_extractor_config.js';
import { type ReadOptions, readOptional } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import type { SpeechTask } from '../models/generation_options.js';
import { GenerativeModel } from '../models/generative_model.js';
import { whisperConfig, whisperPrompt } from '../models/whisper_prompt.js';
import { checkChoice } from '../support/choices.js';
import { ClearformerError } from '../support/error.js';
import { refusedOption, throwIfAborted } from '../support/options.js';
import { warn } from '../support/warning.js';
import type { Tensor } from '../tensor/tensor.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { Pipeline } from './base_pipeline.js';
import { type GenerationCallOptions, generationDefaults, splitOptions, type TextOptions } from './generation_call.js';
import { type Load, loader } from './load_pipeline.js';
import { type Chunk, chunkingOf, chunksOf } from './overlapping_chunks.js';
import { type ChunkTokens, type SpeechChunk, type SpokenOptions, spokenText } from './spoken_text.js';
import { inBatches } from './texts.js';
import { firstTimeOf, sourcePositions, spokenTokens } from './whisper_passes.js';

/** Options of a call: those of `generate`, and the task's own. `batch_size` counts chunks and is 1 by default. */
export interface SpeechRecognitionOptions
  extends Omit<GenerationCallOptions, 'num_return_sequences' | 'return_timestamps'>,
    SpeechTask {
  /** Length of chunks in seconds; longer audio is split into chunks. Default: no chunks. */
  chunk_length_s?: number | undefined;
  /** Overlap of adjacent chunks in seconds, on both sides or left and right. Default: a sixth of chunk_length_s. */
  stride_length_s?: number | readonly [number, number] | undefined;
  /**
   * Return timestamps in `chunks`: true for segments, 'word' for words. Default: the setting in generation_config.json,
   * or false.
   */
  return_timestamps?: boolean | 'word' | undefined;
  /** Return the language of each of the `chunks`. Default false. */
  return_language?: boolean | undefined;
  /** Reject if the audio ends within a segment, instead of leaving its end open. Default false. */
  force_full_sequences?: boolean | undefined;
}

/** Recognised speech. */
export interface RecognizedSpeech {
  text: string;
  /** With `return_timestamps` or `return_language`: the segments or words of the text. */
  chunks?: SpeechChunk[];
}

/** A segment or a word with timestamps. */
export interface TimedSpeech extends SpeechChunk {
  /** Start and end in seconds; null if the model does not give it. */
  timestamp: [number | null, number | null];
}

/** Speech to text, in the spoken language or translated to English. */
export interface AutomaticSpeechRecognitionPipeline {
  /**
   * The text of an audio with its segments or words. Audio longer than the model's window is processed in passes, each
   * starting at the end of the last segment, or with `chunk_length_s` in chunks.
   */
  (
    audio: AudioInput,
    options: SpeechRecognitionOptions & { return_timestamps: true | 'word' },
  ): Promise<RecognizedSpeech & { chunks: TimedSpeech[] }>;
  /** The same for several sounds. */
  (
    audio: readonly AudioInput[],
    options: SpeechRecognitionOptions & { return_timestamps: true | 'word' },
  ): Promise<(RecognizedSpeech & { chunks: TimedSpeech[] })[]>;
  /**
   * The text of one audio, or of each. Rejects like the feature extractor and `generate`; `invalid_argument` for audio
   * longer than the model's window if neither `chunk_length_s` nor `return_timestamps` is given.
   */
  (audio: AudioInput, options?: SpeechRecognitionOptions): Promise<RecognizedSpeech>;
  /** The same for several sounds. */
  (audio: readonly AudioInput[], options?: SpeechRecognitionOptions): Promise<RecognizedSpeech[]>;
  /** One of both, as the sounds are. */
  (
    audio: AudioInput | readonly AudioInput[],
    options?: SpeechRecognitionOptions,
  ): Promise<RecognizedSpeech | RecognizedSpeech[]>;
}

const ownOptions = [
  'chunk_length_s',
  'stride_length_s',
  'return_timestamps',
  'return_language',
  'force_full_sequences',
  'language',
  'task',
];

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class AutomaticSpeechRecognitionPipeline extends Pipeline<
  [AudioInput | readonly AudioInput[], SpeechRecognitionOptions?],
  RecognizedSpeech | RecognizedSpeech[],
  GenerativeModel
> {
  readonly tokenizer: PreTrainedTokenizer;
  readonly processor: WhisperFeatureExtractor;

  /** @internal */
  constructor(task: string, model: GenerativeModel, { tokenizer, extractor }: Beside) {
    super(task, model);
    this.tokenizer = tokenizer;
    this.processor = extractor.on(model.open().engine);
    whisperConfig(model); // throws now, not with the first sound
    warnOfFallbacks(task, model);
  }

  /** @internal */
  override async _call(
    audio: AudioInput | readonly AudioInput[],
    called: SpeechRecognitionOptions = {},
  ): Promise<RecognizedSpeech | RecognizedSpeech[]> {
    const options = this.model.withConfig(this.task, called);
    const list = Array.isArray(audio) ? (audio as readonly AudioInput[]) : [audio as AudioInput];
    const { generate } = splitOptions(this.task, options as GenerationCallOptions, ownOptions, list.length);
    this.#refuse(options);
    const { signal } = options;
    const times = this.#times(options);
    const results: RecognizedSpeech[] = [];
    for (const one of list) {
      throwIfAborted(signal);
      const sound = await read_audio(one, this.processor.features.sampling_rate, { signal });
      const chunks = this.#chunks(sound, options, times);
      const batches = { batch_size: options.batch_size ?? 1, signal };
      const tokens = await inBatches(chunks, batches, (part) => this.#tokens(part, options, { generate, times }));
      results.push(spokenText(tokens, this.#spoken(options, times)));
    }
    return Array.isArray(audio) ? results : (results[0] as RecognizedSpeech);
  }

  #refuse(options: SpeechRecognitionOptions): void {
    for (const [option, why] of Object.entries(refused)) {
      if ((options as Record<string, unknown>)[option] === undefined) continue;
      throw refusedOption(this.task, option, `is not supported: ${why}`, 'unsupported');
    }
    for (const option of ['return_language', 'force_full_sequences'] as const) {
      checkChoice(option, options[option] ?? false, [true, false]);
    }
  }

  #times({ return_timestamps }: SpeechRecognitionOptions): Times {
    const wanted = return_timestamps ?? whisperConfig(this.model).return_timestamps ?? false;
    checkChoice('return_timestamps', wanted, [true, false, 'word']);
    return wanted === 'word' ? 'words' : wanted ? 'segments' : 'none';
  }

  /** The duration in seconds of one position of the encoder's output. */
  get #precision(): number {
    return this.processor.features.chunk_length / sourcePositions(this.model);
  }

  #spoken(options: SpeechRecognitionOptions, times: Times): SpokenOptions {
    return {
      tokenizer: this.tokenizer,
      times,
      languages: options.return_language ? 'told' : 'not told',
      firstTime: firstTimeOf(this.model),
      precision: this.#precision,
      positions: sourcePositions(this.model),
      onlyWhole: options.force_full_sequences ?? false,
    };
  }

  #chunks(samples: Float32Array, options: SpeechRecognitionOptions, times: Times): Chunk[] {
    const { chunk_length_s, stride_length_s } = options;
    const { sampling_rate: rate, chunk_length: most } = this.processor.features;
    if (isChunked(options)) return chunksOf(samples, chunkingOf(chunk_length_s, stride_length_s, { rate, most }));
    if (stride_length_s !== undefined && stride_length_s !== null) {
      throw refusedOption(this.task, 'stride_length_s', 'needs chunk_length_s');
    }
    if (samples.length <= most * rate || times !== 'none') return [{ samples, left: 0, right: 0 }];
    const seconds = (Math.ceil((10 * samples.length) / rate) / 10).toFixed(1); // more than `most`
    throw new ClearformerError(
      'invalid_argument',
      `${this.task}: the sound has ${seconds} seconds, the model reads ${most} at once: pass chunk_length_s, or return_timestamps`,
      { option: 'chunk_length_s' },
    );
  }

  /** The tokens of each chunk's speech. */
  async #tokens(
    chunks: readonly Chunk[],
    options: SpeechRecognitionOptions,
    { generate: given, times }: { generate: TextOptions; times: Times },
  ): Promise<ChunkTokens[]> {
    const { signal } = options;
    const { sampling_rate: rate, chunk_length, hop_length } = this.processor.features;
    const sounds = chunks.map(({ samples }) => samples);
    const isLong = sounds.some(({ length }) => length > chunk_length * rate); // then it is the only one
    const { input_features } = await this.processor(sounds, {
      ...(isLong && { padding: 'longest', truncation: false }),
      return_attention_mask: false,
      signal,
    });
    const total = input_features.dims[2] ?? 0;
    const { language, task } = options;
    const { forced_decoder_ids, decoder_start_token_id: start } = given;
    const first = isLong ? firstFrames(input_features, (chunk_length * rate) / hop_length) : input_features;
    const { ids, languages } = await whisperPrompt(
      this.model,
      first,
      { language, task, times: times !== 'none', start, forced_decoder_ids },
      signal,
    );
    const usual = generationDefaults(this.model, given, {}, ids[0]?.length ?? 0);
    const own = { forced_decoder_ids: null, return_timestamps: times !== 'none' };
    const found = await spokenTokens({
      model: this.model,
      input_features,
      prompt: ids,
      frames: sounds.map(({ length }) => Math.min(total, Math.ceil(length / hop_length))),
      settings: { tokenizer: this.tokenizer, ...usual, ...given, ...own },
      times,
      precision: this.#precision,
    });
    return found.map((one, i) => {
      const { samples, left, right } = chunks[i] as Chunk;
      const stride = { length: samples.length / rate, left: left / rate, right: right / rate };
      return {
        ids: one.ids,
        ...(times === 'words' && { times: one.times }),
        language: languages[i],
        ...(isChunked(options) && { stride }),
      };
    });
  }
}

type Times = SpokenOptions['times'];

const isChunked = ({ chunk_length_s }: SpeechRecognitionOptions) => (chunk_length_s ?? 0) !== 0;

/** Unsupported options of transformers and transformers.js. */
const refused: Readonly<Record<string, string>> = {
  num_return_sequences: 'a sound has one text',
  num_frames: 'the frames of a sound are counted here: leave it out',
  prompt_ids: 'pass it to model.generate()',
};

/**
 * Settings of generation_config.json without effect here: transformers repeats a pass whose result looks wrong
 * (fallback).
 */
const fallbacks = [
  'logprob_threshold',
  'compression_ratio_threshold',
  'no_speech_threshold',
  'condition_on_prev_tokens',
  'prompt_condition_type',
];

function warnOfFallbacks(task: string, { generation_config }: GenerativeModel): void {
  const asked = fallbacks.filter((name) => (generation_config[name] ?? false) !== false);
  if (asked.length === 0) return;
  const message = `${task}: generation_config.json sets ${asked.join(', ')}, which have no effect: each pass is read once`;
  warn({ code: 'no_fallback', message });
}

/** The part of a spectrogram within the model's window. */
function firstFrames(features: Tensor<'float32'>, frames: number): Tensor<'float32'> {
  return features.slice([0, features.dims[0] ?? 0], [0, features.dims[1] ?? 0], [0, frames]);
}

interface Beside {
  tokenizer: PreTrainedTokenizer;
  extractor: WhisperFeatureExtractor;
}

async function read(folder: Folder, options: ReadOptions): Promise<Beside> {
  const [tokenizer, extractor] = await Promise.all([
    readTokenizer(folder, options),
    readFeatureExtractor(folder, options),
  ]);
  if (extractor instanceof WhisperFeatureExtractor) return { tokenizer, extractor };
  const message = `${folder.where}: Whisper reads spectrograms, and the feature extractor makes none`;
  throw new ClearformerError('unsupported', message, { option: 'feature_extractor_type' });
}

const loadWhisper = loader<GenerativeModel, Beside, AutomaticSpeechRecognitionPipeline>({
  Model: GenerativeModel,
  read,
  create: (task, model, beside) => new AutomaticSpeechRecognitionPipeline(task, model, beside),
});

/** @internal A model with a CTC head has a pipeline of its own, with the same calls. */
export const load: Load<AutomaticSpeechRecognitionPipeline> = async (names, folder, options) => {
  const config = await readOptional(folder, 'config.json', options);
  const { model_type } = JSON.parse(config?.text ?? '{}');
  if (!readsSamples(model_type)) return loadWhisper(names, folder, options);
  const { load: loadCtc } = await import('./ctc_recognition.js');
  const made = await loadCtc(names, folder, options);
  return made as unknown as AutomaticSpeechRecognitionPipeline;
};
