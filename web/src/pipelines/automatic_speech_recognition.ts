// automatic-speech-recognition: what is said in a sound, with Whisper.

import type { AudioInput } from '../audio/audio_input.js';
import { read_audio } from '../audio/audio_input.js';
import { readFeatureExtractor, type WhisperFeatureExtractor } from '../audio/feature_extractor.js';
import type { ReadOptions } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { GenerativeModel } from '../models/generative_model.js';
import { ClearformerError } from '../support/error.js';
import { throwIfAborted } from '../support/options.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { Pipeline } from './base_pipeline.js';
import { type GenerationCallOptions, generationDefaults, splitOptions, type TextOptions } from './generation_call.js';
import { loader } from './load_pipeline.js';
import { chunkingOf, chunksOf, joined } from './overlapping_chunks.js';
import { inBatches } from './texts.js';
import { type SpeechTask, whisperConfig, whisperPrompt } from './whisper_prompt.js';

/** Options of a call: those of `generate`, and what is this task's. `batch_size` counts chunks and is 1 by default. */
export interface SpeechRecognitionOptions extends Omit<GenerationCallOptions, 'num_return_sequences'>, SpeechTask {
  /** Seconds of sound that are read at once; longer sounds are cut into such chunks. Default: one chunk, not cut. */
  chunk_length_s?: number | undefined;
  /** Seconds that neighbouring chunks share, on both sides or left and right. Default: a sixth of chunk_length_s. */
  stride_length_s?: number | readonly [number, number] | undefined;
  /** Only false: times are not told. */
  return_timestamps?: false | undefined;
}

/** What was said. */
export interface RecognizedSpeech {
  text: string;
}

/** Speech to text, in the language that is spoken or in English. */
export interface AutomaticSpeechRecognitionPipeline {
  /**
   * The text of a sound, or of each sound. Rejects as the feature extractor and `generate` do; `invalid_argument` for a sound
   * that is longer than the model reads at once when no `chunk_length_s` is given; `unsupported` for timestamps.
   */
  (audio: AudioInput, options?: SpeechRecognitionOptions): Promise<RecognizedSpeech>;
  /** The same for several sounds. */
  (audio: readonly AudioInput[], options?: SpeechRecognitionOptions): Promise<RecognizedSpeech[]>;
}

const ownOptions = ['chunk_length_s', 'stride_length_s', 'return_timestamps', 'language', 'task'];

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
  }

  /** @internal */
  override async _call(
    audio: AudioInput | readonly AudioInput[],
    options: SpeechRecognitionOptions = {},
  ): Promise<RecognizedSpeech | RecognizedSpeech[]> {
    const list = Array.isArray(audio) ? (audio as readonly AudioInput[]) : [audio as AudioInput];
    const { generate } = splitOptions(this.task, options, ownOptions, list.length);
    this.#refuse(options);
    const results: RecognizedSpeech[] = [];
    for (const one of list) {
      throwIfAborted(options.signal);
      const chunks = this.#chunks(await read_audio(one, this.processor.features.sampling_rate), options);
      const batches = { batch_size: options.batch_size ?? 1, signal: options.signal };
      const tokens = await inBatches(chunks, batches, (part) => this.#tokens(part, options, generate));
      results.push({ text: this.tokenizer.decode(joined(tokens.filter(({ length }) => length > 0))) });
    }
    return Array.isArray(audio) ? results : (results[0] as RecognizedSpeech);
  }

  #refuse(options: SpeechRecognitionOptions): void {
    const given = options as Record<string, unknown>;
    const option = ['return_timestamps', 'num_return_sequences'].find(
      (name) => given[name] !== undefined && given[name] !== false,
    );
    if (option === undefined) return;
    throw new ClearformerError('unsupported', `${this.task}: ${option} is not supported`, { option });
  }

  #chunks(samples: Float32Array, options: SpeechRecognitionOptions): Float32Array[] {
    const { chunk_length_s, stride_length_s } = options;
    const { sampling_rate: rate, chunk_length: most } = this.processor.features;
    if (chunk_length_s !== undefined) {
      return chunksOf(samples, chunkingOf(chunk_length_s, stride_length_s, { rate, most }));
    }
    if (stride_length_s !== undefined) {
      throw new ClearformerError('invalid_argument', `${this.task}: stride_length_s needs chunk_length_s`, {
        option: 'stride_length_s',
      });
    }
    if (samples.length <= most * rate) return [samples];
    const seconds = (samples.length / rate).toFixed(1);
    throw new ClearformerError(
      'invalid_argument',
      `${this.task}: the sound has ${seconds} seconds, the model reads ${most} at once: pass chunk_length_s`,
      { option: 'chunk_length_s' },
    );
  }

  /** The tokens of text that each chunk's speech has. */
  async #tokens(
    chunks: readonly Float32Array[],
    options: SpeechRecognitionOptions,
    given: TextOptions,
  ): Promise<number[][]> {
    const { signal } = options;
    const { input_features } = await this.processor(chunks, { signal, return_attention_mask: false });
    const decoder_input_ids = await whisperPrompt(this.model, input_features, options, signal);
    const length = decoder_input_ids[0]?.length ?? 0;
    const usual = generationDefaults(this.model, given, {}, length);
    const settings = { tokenizer: this.tokenizer, forced_decoder_ids: null, ...usual, ...given };
    const sequences = await this.model.generate({ input_features, decoder_input_ids }, settings);
    const special = new Set(this.tokenizer.all_special_ids);
    const firstTime = (whisperConfig(this.model).no_timestamps_token_id ?? Number.POSITIVE_INFINITY) + 1;
    return chunks.map((_, row) =>
      Array.from(sequences.slice(row).data.slice(length), Number).filter((id) => !special.has(id) && id < firstTime),
    );
  }
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
  return { tokenizer, extractor };
}

/** @internal */
export const load = loader<GenerativeModel, Beside, AutomaticSpeechRecognitionPipeline>({
  Model: GenerativeModel,
  read,
  create: (task, model, beside) => new AutomaticSpeechRecognitionPipeline(task, model, beside),
});
