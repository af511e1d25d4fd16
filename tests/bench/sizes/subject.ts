// Loads a model, generates, and measures; runs in a process of its own or in a page.

import type { GenerativeModel, LoadOptions, Source } from 'clearformer';

export const promptLength = 512;
const newTokens = 64;

export type Dtype = NonNullable<LoadOptions['dtype']>;

/** What is measured of one model in one dtype, by the model itself. */
export interface Timed {
  /** Seconds. */
  load: number;
  /** Tokens per second: of the prompt up to the first new one, and of those after it. */
  prefill: number;
  decode: number;
  /** Bytes of the WASM memory after loading and at the end; it never shrinks. */
  loadedBytes: number;
  heapBytes: number;
  /** Bytes of the weights, and of all objects in the WASM memory at their peak. */
  weights: number;
  peak: number;
  simd: string;
}

/** The part of the package that is used, as built. */
type Library = Pick<typeof import('clearformer'), 'AutoModelForCausalLM'>;

/** Loads the model with one thread, and generates after a prompt of arbitrary tokens. `now` is a clock in milliseconds. */
export async function timeSubject(
  library: Library,
  source: Source,
  dtype: Dtype,
  now: () => number = () => performance.now(),
): Promise<Timed> {
  const start = now();
  const options = { dtype, numThreads: 1 };
  const model: GenerativeModel = await library.AutoModelForCausalLM.from_pretrained(source, options);
  const load = (now() - start) / 1000;
  const loadedBytes = model.info().heapBytes;
  const prompt = Array.from({ length: promptLength }, (_, i) => (i * 7919 + 13) % model.cfg.d_vocab);
  const asked = { max_new_tokens: newTokens, min_new_tokens: newTokens, do_sample: false, tokenizer: null };
  const before = now();
  const times: number[] = [];
  for await (const _ of model.generate_stream({ input_ids: [prompt] }, asked)) times.push(now());
  const [first = Number.NaN] = times;
  const last = times.at(-1) ?? Number.NaN;
  const { heapBytes, memory, simd } = model.info();
  await model.dispose();
  return {
    load,
    prefill: (1000 * promptLength) / (first - before),
    decode: (1000 * (times.length - 1)) / (last - first),
    ...{ loadedBytes, heapBytes, simd },
    ...{ weights: memory.weights, peak: memory.peak },
  };
}
