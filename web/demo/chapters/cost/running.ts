// What running models costs on this device: generation with and without the key/value cache, and a pass in each dtype.

import { inspect, type ModelInfo } from 'clearformer';
import { type Book, firstModel } from '../../book/book.js';
import { type BundledName, bundledFiles } from '../../book/bundled.js';
import { largest } from '../../book/largest.js';
import { shelve } from '../../book/shelf.js';
import { medianTime } from './timing.js';

/** Used for the dtypes: its matrices are large enough to be quantised. */
const translator = 'marian-tiny-en-fr';
const turns = 5;

export interface Running {
  readonly milliseconds: number;
  readonly tokens: number;
}

/** Milliseconds of generating tokens after the sentence, with the key/value cache and without. */
export async function withCache(
  book: Book,
  tokens: number,
  signal: AbortSignal,
): Promise<{ kept: Running; without: Running }> {
  const { writer } = await book.shelf.model(firstModel);
  const { ids } = await book.sentence(firstModel, 64);
  if (!writer) throw new TypeError(`${firstModel} writes`);
  const options = { max_new_tokens: tokens, min_new_tokens: tokens, do_sample: false, signal };
  const time = (use_cache: boolean): Promise<number> =>
    medianTime(() => writer.generate({ input_ids: [[...ids]] }, { ...options, use_cache }), 3, signal);
  return { kept: { milliseconds: await time(true), tokens }, without: { milliseconds: await time(false), tokens } };
}

export const dtypes = ['fp32', 'fp16', 'q8', 'q4'] as const;
export type Dtype = (typeof dtypes)[number];

export interface DtypeCost {
  readonly dtype: Dtype;
  /** Bytes of the weights in memory. */
  readonly bytes: number;
  /** Of one forward pass over the sentence. */
  readonly milliseconds: number;
  /** The largest logit's difference from fp32, and whether the most probable token is the same. */
  readonly difference: number;
  readonly sameToken: boolean;
}

/** The translator loaded in each dtype in turn; each is disposed of before the next. */
export async function inDtypes(book: Book, signal: AbortSignal): Promise<DtypeCost[]> {
  const { ids } = await book.sentence(translator);
  const files = await bundledFiles(translator, signal);
  const costs: DtypeCost[] = [];
  let exact: ArrayLike<number> = [];
  for (const dtype of dtypes) {
    const { model } = await shelve(translator, 'seq2seq-lm', files, { dtype, signal });
    try {
      const inputs = { input_ids: [[...ids]], decoder_input_ids: [[Number(model.config.decoder_start_token_id)]] };
      const [logits] = await model.run_with_cache(inputs, { names_filter: [] });
      const last = logits.slice(0, -1).data;
      if (dtype === 'fp32') exact = last;
      const milliseconds = await medianTime(() => model.run_with_cache(inputs, { names_filter: [] }), turns, signal);
      const difference = Math.max(...Array.from(last, (value, i) => Math.abs(value - (exact[i] ?? 0))));
      const sameToken = largest(last, 1)[0] === largest(exact, 1)[0];
      costs.push({ dtype, bytes: model.info().weightsBytes, milliseconds, difference, sameToken });
    } finally {
      await model.dispose();
    }
  }
  return costs;
}

/** Bytes of the key/value cache per token. */
export async function cacheBytesOf(model: BundledName, signal: AbortSignal): Promise<number> {
  const { cache } = await inspect(await bundledFiles(model, signal), { signal });
  return cache?.fp32.per_position ?? 0;
}

/** The device and program that the model runs on. */
export async function device(book: Book): Promise<ModelInfo> {
  return (await book.shelf.model(firstModel)).model.info();
}
