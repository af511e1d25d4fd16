// What chapter 11 shows: the model's input image, its patches as vectors, attention weights, and the class scores.

import { type ActivationEdit, attentionRollout, matmul, rms_norm, softmax, Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import { largest } from '../../book/largest.js';
import { activation, type PassInputs } from '../../book/shelf.js';
import {
  type Greys,
  orderFrom,
  patchPixels,
  pictureFrom,
  pixelAt,
  places,
  placesFrom,
  rearranged,
  side,
} from './pixels.js';

type Floats = Tensor<'float32'>;
export const modelName = 'vit-mnist';

/** Position embeddings when patches move: of the new position, of the original one, or none. */
export type Positions = 'stay' | 'along' | 'none';

export interface Chosen {
  readonly picture: string;
  readonly order: string;
  readonly hidden: string;
  readonly positions: string;
}

export interface Seen {
  readonly greys: Greys;
  readonly order: readonly number[];
  readonly hidden: readonly number[];
  readonly inputs: PassInputs;
  /** [1, 1, 28, 28]. */
  readonly pixels: Floats;
  readonly classes: readonly string[];
  readonly logits: Floats;
  /** [1, class]. */
  readonly probabilities: Floats;
  readonly best: number;
  /** The same for the original picture, without any permutation, hidden patches or edits. */
  readonly before: { readonly logits: Floats; readonly probabilities: Floats; readonly best: number };
  /** [token, d_model]; token 0 is the class token. */
  readonly embed: Floats;
  readonly positions: Floats;
  readonly full: Floats;
  /** [head, query, key] of each block. */
  readonly patterns: readonly Floats[];
  /** [block, 1, query, key]. */
  readonly rollout: Floats;
  readonly kernels: Kernels;
  /** Cosine similarities of the learned position embeddings, [place, place]. */
  readonly likeness: Floats;
}

/** The patch projection: [kernel, 1, 4, 4] and [kernel]. */
interface Kernels {
  readonly weight: Floats;
  readonly bias: Floats;
}

const names = ['hook_embed', 'hook_pos_embed', 'hook_full_embed', 'blocks.*.attn.hook_pattern'];

export async function see(book: Book, chosen: Chosen): Promise<Seen> {
  const greys = await pictureFrom(chosen.picture);
  const [order, hidden] = [orderFrom(chosen.order), placesFrom(chosen.hidden)];
  const whole = await inputsOf(book, greys, chosen.picture);
  const positions = await positionsOf(book, whole);
  const key = [chosen.picture, chosen.order, chosen.hidden, chosen.positions].join();
  const moved = await inputsOf(book, rearranged(greys, order, hidden), key);
  const inputs = { ...moved, edits: positionEdits(chosen.positions, order, positions) };
  const { now } = await book.passes(inputs, names);
  const plain = await book.shelf.pass(whole, { names });
  const { model } = await book.shelf.model(modelName);
  const layers = Array.from({ length: model.cfg.n_layers }, (_, l) => `blocks.${l}.attn.hook_pattern`);
  const labels = (model.config.id2label ?? {}) as Record<number, string>;
  return {
    greys,
    order,
    hidden,
    inputs,
    pixels: inputs.inputs.pixel_values as Floats,
    classes: Array.from(now.logits.data, (_, i) => labels[i] ?? String(i)),
    ...(await scored(now.logits)),
    before: await scored(plain.logits),
    embed: activation(now, 'hook_embed').slice(0),
    positions: activation(now, 'hook_pos_embed').slice(0),
    full: activation(now, 'hook_full_embed').slice(0),
    patterns: layers.map((name) => activation(now, name).slice(0)),
    rollout: attentionRollout(now.cache),
    kernels: await kernelsOf(book),
    likeness: await likenessOf(positions),
  };
}

async function scored(logits: Floats): Promise<Seen['before']> {
  const probabilities = await softmax(logits);
  return { logits, probabilities, best: largest(probabilities.data, 1)[0] ?? 0 };
}

/** A picture as pixel values of the model's image processor. */
async function inputsOf(book: Book, greys: Greys, key: string): Promise<PassInputs> {
  const { processor } = await book.shelf.model(modelName);
  if (!processor) throw new TypeError(`${modelName} has an image processor`);
  const { pixel_values } = await processor({ data: greys, width: side, height: side, channels: 1 });
  return { model: modelName, key, inputs: { pixel_values } };
}

/** The learned position embeddings, [token, d_model]. */
async function positionsOf(book: Book, inputs: PassInputs): Promise<Floats> {
  return activation(await book.shelf.pass(inputs, { names }), 'hook_pos_embed').slice(0);
}

const patchTokens = Array.from({ length: places }, (_, place) => place + 1);

function positionEdits(mode: string, order: readonly number[], positions: Floats): ActivationEdit[] {
  if (mode === 'none') return [{ hook: 'hook_pos_embed', pos: patchTokens, op: 'zero' }];
  if (mode !== 'along' || order.every((patch, place) => patch === place)) return [];
  const value = order.map((patch) => Array.from(positions.slice(patch + 1).data));
  return [{ hook: 'hook_pos_embed', pos: patchTokens, op: 'replace', value }];
}

/**
 * Measures the kernels on the running model: in one picture each of sixteen patches has a single pixel of 1, a
 * different one in each patch, and zeros elsewhere. The embedding of such a patch minus that of a zero patch is that
 * pixel's weight in each kernel.
 */
async function kernelsOf(book: Book): Promise<Kernels> {
  const impulses = new Float32Array(side * side);
  for (let k = 0; k < patchPixels; k++) impulses[pixelAt(k, k)] = 1;
  const pixel_values = new Tensor('float32', impulses, [1, 1, side, side]);
  const pass = await book.shelf.pass(
    { model: modelName, key: 'impulses', inputs: { pixel_values } },
    { names: ['hook_embed'] },
  );
  const embed = activation(pass, 'hook_embed').slice(0);
  const bias = embed.slice(patchPixels + 1);
  const count = bias.data.length;
  const weight = new Float32Array(count * patchPixels);
  for (let k = 0; k < patchPixels; k++) {
    embed.slice(k + 1).data.forEach((value, kernel) => {
      weight[kernel * patchPixels + k] = value - (bias.data[kernel] ?? 0);
    });
  }
  return {
    weight: new Tensor('float32', weight, [count, 1, Math.sqrt(patchPixels), Math.sqrt(patchPixels)]),
    bias: new Tensor('float32', Float32Array.from(bias.data), [count]),
  };
}

/** Cosine similarities: rows normalised to length 1, then all dot products. */
async function likenessOf(positions: Floats): Promise<Floats> {
  const rows = positions.slice([1, null]);
  const [count = 0, width = 0] = rows.dims;
  const weight = new Tensor('float32', new Float32Array(width).fill(1 / Math.sqrt(width)), [width]);
  const unit = await rms_norm(rows, width, { weight, eps: 1e-12 });
  const turned = new Float32Array(count * width);
  for (let row = 0; row < count; row++) {
    for (let i = 0; i < width; i++) turned[i * count + row] = unit.data[row * width + i] ?? 0;
  }
  return matmul(unit, new Tensor('float32', turned, [width, count]));
}

/** The weights of one query over the patches, without the class token, as a grid. */
export function overPlaces(row: Floats): { dims: number[]; data: Float32Array } {
  const rows = Math.sqrt(places);
  return { dims: [rows, rows], data: Float32Array.from(row.data).subarray(1) };
}
