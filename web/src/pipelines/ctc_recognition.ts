// automatic-speech-recognition with a CTC head (wav2vec 2.0, HuBERT): the best token of each frame, as text.

import { type AudioInput, read_audio } from '../audio/audio_input.js';
import { readFeatureExtractor } from '../audio/auto_feature_extractor.js';
import { Wav2Vec2FeatureExtractor } from '../audio/wav2vec2_feature_extractor.js';
import type { ReadOptions } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions, refusedOption, throwIfAborted } from '../support/options.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { type LogitsModel, Pipeline } from './base_pipeline.js';
import { loader } from './load_pipeline.js';
import { type Chunk, chunkingOf, chunksOf } from './overlapping_chunks.js';
import { argmax, checkCount } from './scores.js';
import type { CallOptions } from './texts.js';

/** Those of the options of automatic-speech-recognition that are read here. */
interface Options extends CallOptions {
  chunk_length_s?: number | undefined;
  stride_length_s?: number | readonly [number, number] | undefined;
  return_timestamps?: boolean | 'word' | undefined;
}

/** Recognised speech. */
interface Recognized {
  text: string;
}

const ownOptions = ['chunk_length_s', 'stride_length_s', 'batch_size', 'return_timestamps', 'signal'];
/** Of a config without them: transformers' defaults. */
const usualStrides = [5, 2, 2, 2, 2, 2, 2];

/**
 * Speech to text with one pass over the whole sound, or over each of its chunks. Of the options it takes
 * `chunk_length_s`, `stride_length_s`, `batch_size` (without effect: sounds are read one by one) and `signal`.
 */
export class CtcRecognitionPipeline extends Pipeline<
  [AudioInput | readonly AudioInput[], Options?],
  Recognized | Recognized[],
  LogitsModel
> {
  readonly tokenizer: PreTrainedTokenizer;
  readonly processor: Wav2Vec2FeatureExtractor;

  /** @internal */
  constructor(task: string, model: LogitsModel, { tokenizer, extractor }: Beside) {
    super(task, model);
    this.tokenizer = tokenizer;
    this.processor = extractor;
  }

  /** @internal */
  override async _call(
    audio: AudioInput | readonly AudioInput[],
    options: Options = {},
  ): Promise<Recognized | Recognized[]> {
    checkOptions(this.task, options, ownOptions);
    checkCount('batch_size', options.batch_size ?? 1);
    if (options.return_timestamps)
      throw refusedOption(this.task, 'return_timestamps', 'is not supported for models with a CTC head', 'unsupported');
    const { signal } = options;
    const list = Array.isArray(audio) ? (audio as readonly AudioInput[]) : [audio as AudioInput];
    const results: Recognized[] = [];
    for (const one of list) {
      const sound = await read_audio(one, this.processor.features.sampling_rate, { signal });
      const ids: number[] = [];
      for (const chunk of this.#chunks(sound, options)) {
        throwIfAborted(signal);
        ids.push(...(await this.#ids(chunk, signal)));
      }
      results.push({ text: this.tokenizer.decode(ids).trim() });
    }
    return Array.isArray(audio) ? results : (results[0] as Recognized);
  }

  /** Samples of the sound for each frame of logits. */
  get #ratio(): number {
    const { conv_stride = usualStrides } = this.model.config;
    return (conv_stride as number[]).reduce((product, stride) => product * stride, 1);
  }

  /** Chunks and their overlaps are whole numbers of frames. */
  #chunks(samples: Float32Array, { chunk_length_s, stride_length_s }: Options): Chunk[] {
    if ((chunk_length_s ?? 0) === 0) {
      if (stride_length_s === undefined || stride_length_s === null) return [{ samples, left: 0, right: 0 }];
      throw refusedOption(this.task, 'stride_length_s', 'needs chunk_length_s');
    }
    const ratio = this.#ratio;
    const rate = this.processor.features.sampling_rate / ratio;
    const { length, left, right } = chunkingOf(chunk_length_s, stride_length_s, { rate, most: Infinity });
    return chunksOf(samples, { length: length * ratio, left: left * ratio, right: right * ratio });
  }

  /** The best token of each frame of a chunk that no other chunk has. */
  async #ids({ samples, left, right }: Chunk, signal: AbortSignal | undefined): Promise<number[]> {
    const { logits } = await this.model(await this.processor(samples, { signal }), { signal });
    const [, frames = 0, tokens = 0] = logits.dims;
    const ids = Array.from({ length: frames }, (_, at) => argmax(logits.data.subarray(at * tokens, (at + 1) * tokens)));
    if (left === 0 && right === 0) return ids;
    const all = Math.round(samples.length / this.#ratio); // as transformers counts them
    const framesOf = (overlap: number) => Math.round((overlap / samples.length) * all);
    return ids.slice(framesOf(left), all - framesOf(right));
  }
}

interface Beside {
  tokenizer: PreTrainedTokenizer;
  extractor: Wav2Vec2FeatureExtractor;
}

async function read(folder: Folder, options: ReadOptions): Promise<Beside> {
  const [tokenizer, extractor] = await Promise.all([readTokenizer(folder, options), readSamples(folder, options)]);
  return { tokenizer, extractor };
}

/** The feature extractor of a folder whose model reads samples. */
export async function readSamples(folder: Folder, options: ReadOptions): Promise<Wav2Vec2FeatureExtractor> {
  const extractor = await readFeatureExtractor(folder, options);
  if (extractor instanceof Wav2Vec2FeatureExtractor) return extractor;
  const message = `${folder.where}: the model reads samples, and its feature extractor makes spectrograms`;
  throw new ClearformerError('unsupported', message, { option: 'feature_extractor_type' });
}

/** @internal */
export const load = loader<LogitsModel, Beside, CtcRecognitionPipeline>({
  Model: PreTrainedModel,
  read,
  create: (task, model, beside) => new CtcRecognitionPipeline(task, model, beside),
});
