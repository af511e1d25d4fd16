// The position embeddings of the bundled models: learned ones and Marian's sinusoids, and the similarity of their rows.

import { sinusoidal_encoding, Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import { activation, type PassInputs } from '../../book/shelf.js';
import { cosines, largestDifference, ofOneLength } from '../../book/tensors.js';
import type { Made } from './places.js';

export const tableModels = ['gpt-nano-sort', 'vit-mnist', 'marian-tiny-en-fr'] as const;
type TableModel = (typeof tableModels)[number];

export interface Learned {
  readonly model: TableModel;
  readonly table: Made;
  /** Cosine similarity of each row with each: [n, n]. */
  readonly similarity: Made;
  /** For sinusoids: the largest absolute difference from the function. */
  readonly difference: number | undefined;
}

/** Inputs of the model's full context length; their content does not affect the position embeddings. */
function filledInputs(name: TableModel, places: number): { given: PassInputs; hook: string } {
  if (name === 'vit-mnist') {
    const pixel_values = new Tensor('float32', new Float32Array(28 * 28), [1, 1, 28, 28]);
    return { given: { model: name, key: 'blank', inputs: { pixel_values } }, hook: 'hook_pos_embed' };
  }
  const ids = Array.from({ length: places }, () => 1);
  const given = { model: name, key: `${places} places`, inputs: { input_ids: [ids] } };
  if (name === 'gpt-nano-sort') return { given, hook: 'hook_pos_embed' };
  return {
    given: { ...given, inputs: { input_ids: [ids], decoder_input_ids: [[0]] } },
    hook: 'encoder.hook_pos_embed',
  };
}

export async function learnedOf(book: Book, name: TableModel): Promise<Learned> {
  const { model } = await book.shelf.model(name);
  const { given, hook } = filledInputs(name, model.cfg.n_ctx);
  const pass = await book.shelf.pass(given, { names: [hook] });
  const numbers = activation(pass, hook).slice(0);
  const [count = 0, d = 0] = numbers.dims;
  const rows = await ofOneLength(numbers);
  const sinusoids = model.cfg.positional_embedding_type === 'sinusoidal';
  const made = sinusoids ? await sinusoidal_encoding(count, d, { layout: 'halves' }) : undefined;
  return {
    model: name,
    table: { source: `${hook}[0]`, numbers },
    similarity: {
      source: `matmul(rms_norm(${hook}[0]), rms_norm(${hook}[0])ᵀ) / ${d}`,
      numbers: await cosines(rows, rows),
    },
    difference: made && largestDifference(numbers.data, made.data),
  };
}
