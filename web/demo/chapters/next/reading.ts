// What chapter 0 shows: the stream of the last tokens through all blocks, the last token's attention weights, and its
// prediction after each block (logit lens).

import { ClearformerError, logitLens, softmax, type Tensor } from 'clearformer';
import type { Book, Sentence } from '../../book/book.js';
import { largest } from '../../book/largest.js';
import { activation } from '../../book/shelf.js';
import type { Piece } from '../../book/token_texts.js';
import { idsWithin } from '../../book/within.js';

export interface Guess {
  readonly piece: Piece;
  readonly probability: number;
}

export interface Reading {
  readonly sentence: Sentence;
  /** Tokens appended by the reader or the model, and all tokens of the input. */
  readonly written: readonly Piece[];
  /** Those of the address, also where the model has no more room. */
  readonly appended: readonly number[];
  readonly ids: readonly number[];
  readonly tokens: readonly Piece[];
  /** The residual stream before the first block and after each, [pos, d_model], with its hook's name. */
  readonly stream: readonly { name: string; tensor: Tensor<'float32'> }[];
  /** The last position's weights in each block, averaged over the heads. */
  readonly reads: readonly Float64Array[];
  /** The logit lens: the most probable token before each block and after the last. */
  readonly lens: readonly Guess[];
  /** Probabilities of the next token over the vocabulary, and the most probable tokens. */
  readonly probabilities: Float32Array;
  readonly guesses: readonly Guess[];
  readonly full: boolean;
}

const shownGuesses = 8;

/** With the tokens of the address (`385.29`) after the sentence. */
export async function read(book: Book, asked: string): Promise<Reading> {
  const sentence = await book.sentence();
  const { model, texts } = await book.shelf.model(book.modelName);
  if (!texts) throw new TypeError('a model that reads text has tokens');
  if (model.cfg.kind === 'encoder-decoder') {
    const why = `this chapter follows one stack of blocks, and ${model.cfg.model_type} has two`;
    throw new ClearformerError('unsupported', `${why}: open it in its own chapter`);
  }
  const written = idsWithin(asked, model.cfg.d_vocab);
  const room = model.cfg.n_ctx - sentence.ids.length;
  const ids = [...sentence.ids, ...written.slice(0, Math.max(0, room))];
  const inputs = { model: book.modelName, key: ids.join(), inputs: { input_ids: [ids] } };
  const layers = model.cfg.n_layers;
  const names = ['blocks.0.hook_resid_pre', ...Array.from({ length: layers }, (_, l) => `blocks.${l}.hook_resid_post`)];
  const pass = await book.shelf.pass(inputs, { names: [...names, 'blocks.*.attn.hook_pattern'] });
  const lens = await logitLens(model, inputs.inputs, { pos: -1 });
  const guess = (id: number, probability: number): Guess => ({ piece: texts.alone(id), probability });
  const odds = await softmax(lens.slice(null, 0));
  const rows = Array.from({ length: layers + 1 }, (_, l) => odds.slice(l).data);
  const probabilities = odds.slice(layers).data;
  const tokens = texts.pieces(ids);
  return {
    sentence,
    written: tokens.slice(sentence.ids.length),
    appended: written,
    ids,
    tokens,
    stream: names.map((name) => ({ name, tensor: activation(pass, name).slice(0) })),
    reads: Array.from({ length: layers }, (_, l) => meanOfHeads(activation(pass, `blocks.${l}.attn.hook_pattern`))),
    lens: rows.map((row) => {
      const [best = 0] = largest(row, 1);
      return guess(best, row[best] ?? 0);
    }),
    probabilities,
    guesses: largest(probabilities, shownGuesses).map((id) => guess(id, probabilities[id] ?? 0)),
    full: room <= written.length,
  };
}

/** The last query's weights of [1, head, query, key], averaged over the heads. */
function meanOfHeads(pattern: Tensor<'float32'>): Float64Array {
  const [, heads = 1, , keys = 0] = pattern.dims;
  const mean = new Float64Array(keys);
  for (let head = 0; head < heads; head++) {
    pattern.slice(0, head, -1).data.forEach((weight, key) => {
      mean[key] = (mean[key] ?? 0) + weight / heads;
    });
  }
  return mean;
}
