// What is trained: a small GPT-2 with random weights, rows of random tokens that repeat, and the rows that measure it.

import { type SavedFiles, sinusoidal_encoding, Tensor, toSafetensors } from 'clearformer';
import { uniform, uniformly } from '../../../book/random.js';

export interface Settings {
  /** One block or two. */
  readonly layers: number;
  /** The learning rate after the warm-up. */
  readonly lr: number;
  /** Weights and data are drawn from it. */
  readonly seed: number;
}

export const vocabulary = 32;
/** Tokens in a row. */
export const length = 32;
/** Tokens before the repetition in the rows that measure. */
export const half = length / 2;
export const heads = 2;
export const learningRates = [0.001, 0.002, 0.004, 0.008];
export const optimizerOptions = { betas: [0.9, 0.99], num_warmup_steps: 50 } as const;
/** Of the gradients' norm. */
export const mostNorm = 1;
export const batchRows = 32;
export const shortest = 4;

const width = 32;
const measuredRows = 4;
/** Wavelengths of the sinusoids are 2π to about 8 times that, for rows of 32 tokens. */
const base = 8;
const config = {
  model_type: 'gpt2',
  architectures: ['GPT2LMHeadModel'],
  vocab_size: vocabulary,
  n_positions: length,
  n_embd: width,
  n_head: heads,
  n_inner: width,
  tie_word_embeddings: false,
  bos_token_id: 0,
  eos_token_id: 0,
};

/** The checkpoint that training begins with: uniform weights, and sinusoids as positions. */
export async function untrained({ layers, seed }: Settings): Promise<SavedFiles> {
  let drawn = 1000 * seed;
  const random = (size: number, ...dims: number[]): Tensor => uniform(dims, drawn++).mul(size * Math.sqrt(3));
  const constant = (value: number, count: number): Tensor =>
    new Tensor('float32', new Float32Array(count).fill(value), [count]);
  const tensors: Record<string, Tensor> = {
    'transformer.wte.weight': random(0.3, vocabulary, width),
    'transformer.wpe.weight': await sinusoidal_encoding(length, width, { base }),
    'transformer.ln_f.weight': constant(1, width),
    'transformer.ln_f.bias': constant(0, width),
    'lm_head.weight': random(0.02, vocabulary, width),
  };
  const outputs = { 'attn.c_attn': 3 * width, 'attn.c_proj': width, 'mlp.c_fc': width, 'mlp.c_proj': width };
  for (let layer = 0; layer < layers; layer++) {
    const block = `transformer.h.${layer}`;
    for (const [name, count] of Object.entries(outputs)) {
      tensors[`${block}.${name}.weight`] = random(0.1, width, count);
      tensors[`${block}.${name}.bias`] = constant(0, count);
    }
    for (const norm of ['ln_1', 'ln_2']) {
      tensors[`${block}.${norm}.weight`] = constant(1, width);
      tensors[`${block}.${norm}.bias`] = constant(0, width);
    }
  }
  const text = JSON.stringify({ ...config, n_layer: layers });
  return {
    'config.json': new TextEncoder().encode(text),
    'model.safetensors': toSafetensors(tensors) as Uint8Array<ArrayBuffer>,
  };
}

/** `period` different tokens over and over. */
function repeated(period: number, below: (end: number) => number): number[] {
  const deck = Array.from({ length: vocabulary }, (_, token) => token);
  const block = Array.from({ length: period }, () => deck.splice(below(deck.length), 1)[0] ?? 0);
  return Array.from({ length }, (_, at) => block[at % period] ?? 0);
}

function integersBelow(seed: number): (end: number) => number {
  const next = uniformly(seed);
  return (end) => Math.floor(next() * end);
}

/** The rows of a step: 4 to 16 tokens over and over, so that no fixed distance leads to the copy. */
export function batch({ seed }: Settings, step: number): number[][] {
  const below = integersBelow(1e6 * seed + step);
  return Array.from({ length: batchRows }, () => repeated(shortest + below(half - shortest + 1), below));
}

/** The rows that measure: 16 tokens, then the same again. Not among those of the steps. */
export function measuringRows({ seed }: Settings): number[][] {
  const below = integersBelow(1e6 * seed - 1);
  return Array.from({ length: measuredRows }, () => repeated(half, below));
}
