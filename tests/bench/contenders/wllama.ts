// wllama (llama.cpp in WebAssembly) on a GGUF file with the same weights. It times itself: a prompt without the parts of
// its server around it, tokens without the prompt.

import type { Spec } from '../types.js';
import { imported } from './imported.js';
import { sampled, tokenRows } from './inputs.js';
import type { Running } from './running.js';

interface TokenProbability {
  id: number;
  logprob: number;
}

/** The part of a completion that is used, as llama.cpp's server answers. */
interface Completion {
  choices: { logprobs?: { content?: { top_logprobs?: TokenProbability[] }[] } | null }[];
  timings?: { prompt_n: number; prompt_ms: number; predicted_n: number; predicted_ms: number };
}

interface WllamaModel {
  loadModel(files: Blob[], options: object): Promise<void>;
  createCompletion(options: object): Promise<Completion>;
  getNumThreads(): number;
  exit(): Promise<void>;
}

interface Package {
  Wllama: new (paths: { default: string }, options: object) => WllamaModel;
  LoggerWithoutDebug: object;
}

async function load({ library, wasmFolder = '', graph = '', threads, dtype, input }: Spec): Promise<WllamaModel> {
  const { Wllama, LoggerWithoutDebug } = (await imported(library)) as Package;
  const options = { logger: LoggerWithoutDebug, suppressNativeLog: true };
  const model = new Wllama({ default: `${wasmFolder}wllama.wasm` }, options);
  const file = await (await fetch(`${graph}.gguf`)).blob();
  const exact = dtype === 'fp32' ? { cache_type_k: 'f32', cache_type_v: 'f32' } : {}; // as ours; its default is f16
  const n_ctx = (input.past ?? 0) + (input.length ?? 1) < 512 ? 512 : 1024;
  await model.loadModel([file], { n_threads: threads, n_gpu_layers: 0, n_ctx, n_parallel: 1, warmup: false, ...exact });
  return model;
}

const given = <T>(part: T | undefined | null): T => {
  if (part === undefined || part === null) throw new Error('wllama left out what is measured');
  return part;
};

export async function open(spec: Spec): Promise<Running> {
  const model = await load(spec);
  const { length = 1, past = 0, vocabulary = 1 } = spec.input;
  const [ids = []] = tokenRows(1, past + length, vocabulary);
  const prompt = ids.map((id) => `<${id}>`).join(''); // as models/gguf.ts names them
  const ask = (more: object): Promise<Completion> =>
    model.createCompletion({ prompt, temperature: 0, top_k: 1, ignore_eos: true, ...more });

  /** Milliseconds of reading the prompt, `repetitions` times. */
  async function prefill(repetitions: number): Promise<number> {
    let total = 0;
    for (let i = 0; i < repetitions; i += 1) {
      const { prompt_n, prompt_ms } = given((await ask({ max_tokens: 1, cache_prompt: false })).timings);
      if (prompt_n !== length) throw new Error(`wllama read ${prompt_n} tokens of ${length}`);
      total += prompt_ms;
    }
    return total / repetitions;
  }

  /** Milliseconds of a token; its clock starts after the first. */
  async function decode(repetitions: number): Promise<number> {
    const asked = { max_tokens: repetitions + 1, cache_prompt: true };
    const { predicted_n, predicted_ms } = given((await ask(asked)).timings);
    if (predicted_n !== repetitions + 1) throw new Error(`wllama wrote ${predicted_n} tokens of ${repetitions + 1}`);
    return predicted_ms / repetitions;
  }

  return {
    about: { threads: model.getNumThreads() },
    timed: spec.task === 'decode' ? decode : prefill,
    async sample() {
      const { choices } = await ask({ max_tokens: 1, logprobs: vocabulary, cache_prompt: false });
      const all = given(choices[0]?.logprobs?.content?.[0]?.top_logprobs);
      const logits = new Float32Array(vocabulary).fill(Number.NaN);
      for (const { id, logprob } of all) logits[id] = logprob;
      return { ...sampled(logits), shifted: true };
    },
    close: () => model.exit(),
  };
}
