// The same weights with the norm after each addition (post-norm) and before each sublayer (pre-norm): a block of the
// translator's encoder as nn.TransformerEncoderLayer, applied once and repeatedly.

import { nn, Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import { activation } from '../../book/shelf.js';
import { type Weights, weightsOf } from '../../book/weights.js';
import { lengthOf, type Subject, subjectOf, translator } from './reading.js';

type Matrix = Tensor<'float32'>;
/** How many times the block is applied to its own output. */
export const repeats = 8;

export interface Order {
  readonly subject: Subject;
  readonly layer: number;
  readonly input: Matrix;
  /** [pos, d_model] after one block. */
  readonly post: Matrix;
  readonly pre: Matrix;
  /** Largest absolute difference of `post` from the translator's own activations. */
  readonly agrees: number;
  /** Norm of the chosen token's vector after each application, the input first. */
  readonly lengths: { readonly post: readonly number[]; readonly pre: readonly number[] };
}

export async function order(book: Book, layer: number): Promise<Order> {
  const subject = await subjectOf(book, `${translator}.encoder`, '');
  const { given, shape, focus } = subject;
  const at = Math.min(layer, shape.layers - 1);
  const names = [`encoder.${at}.hook_resid_pre`, `encoder.${at}.hook_normalized_resid_post`] as const;
  const pass = await book.shelf.pass(given, { names });
  const input = activation(pass, names[0]).slice(0);
  const state = stateOf(await weightsOf(translator), at);
  const heads = (await book.shelf.model(translator)).model.cfg.n_heads;
  const options = { dim_feedforward: shape.hidden, activation: 'relu' } as const;
  const post = await repeated(new nn.TransformerEncoderLayer(shape.model, heads, options), state, input);
  const pre = await repeated(
    new nn.TransformerEncoderLayer(shape.model, heads, { ...options, norm_first: true }),
    state,
    input,
  );
  const own = activation(pass, names[1]).data;
  const agrees =
    post[1]?.data.reduce((most, value, i) => Math.max(most, Math.abs(value - (own[i] ?? 0))), 0) ?? Number.NaN;
  const lengths = (all: readonly Matrix[]): number[] => all.map((matrix) => lengthOf(matrix.slice(focus).data));
  return {
    ...{ subject, layer: at, input, agrees },
    post: post[1] ?? input,
    pre: pre[1] ?? input,
    lengths: { post: lengths(post), pre: lengths(pre) },
  };
}

/** The input, and the block's output after one, two, … applications. */
async function repeated(
  block: nn.TransformerEncoderLayer,
  state: Readonly<Record<string, Matrix>>,
  input: Matrix,
): Promise<Matrix[]> {
  try {
    await block.load_state_dict(state);
    const all = [input];
    for (let i = 0; i < repeats; i++) all.push(await block.forward(all[i] as Matrix));
    return all;
  } finally {
    await block.dispose();
  }
}

/** A layer's weights in Marian's checkpoint as the layer's state dict. */
function stateOf(weights: Weights, layer: number): Record<string, Matrix> {
  const of = `model.encoder.layers.${layer}`;
  const get = (name: string): Matrix => weights.get(`${of}.${name}`);
  const state: Record<string, Matrix> = {};
  for (const kind of ['weight', 'bias']) {
    state[`self_attn.in_proj_${kind}`] = stacked(['q', 'k', 'v'].map((one) => get(`self_attn.${one}_proj.${kind}`)));
    state[`self_attn.out_proj.${kind}`] = get(`self_attn.out_proj.${kind}`);
    state[`linear1.${kind}`] = get(`fc1.${kind}`);
    state[`linear2.${kind}`] = get(`fc2.${kind}`);
    state[`norm1.${kind}`] = get(`self_attn_layer_norm.${kind}`);
    state[`norm2.${kind}`] = get(`final_layer_norm.${kind}`);
  }
  return state;
}

/** Concatenates along the rows. */
function stacked(parts: readonly Matrix[]): Matrix {
  const [first = 0, ...rest] = parts[0]?.dims ?? [];
  const data = new Float32Array(parts.reduce((count, { size }) => count + size, 0));
  let at = 0;
  for (const part of parts) {
    data.set(part.data, at);
    at += part.size;
  }
  return new Tensor('float32', data, [first * parts.length, ...rest]);
}
