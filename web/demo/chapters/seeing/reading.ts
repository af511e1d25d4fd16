// What chapter 11 shows: the model's input image, its patches as vectors, attention weights, and the class scores.

import {
  type ActivationEdit,
  attentionRollout,
  ClearformerError,
  type ImageProcessor,
  matmul,
  type PreTrainedModel,
  rms_norm,
  softmax,
  Tensor,
} from 'clearformer';
import type { Address } from '../../book/address.js';
import type { Book } from '../../book/book.js';
import { largest } from '../../book/largest.js';
import { remembered } from '../../book/remembered.js';
import { activation, type PassInputs } from '../../book/shelf.js';
import { type Geometry, geometryOf, orderFrom, pixelAt, placesFrom, rearranged } from './geometry.js';
import { imageFrom } from './pixels.js';

type Floats = Tensor<'float32'>;
const bundledName = 'vit-mnist';

/** The model that the address chooses: the bundled one or the reader's own. */
export const isOwn = (address: Address): boolean => address.get('of') === 'own';
/** How many patches the question may hide. */
export const mostHidden = (address: Address, { places }: Geometry): number =>
  isOwn(address) ? Math.floor(places / 2) : 3;

export const modelName = (address: Address): string => (isOwn(address) ? 'own' : bundledName);

/** Position embeddings when patches move: of the new position, of the original one, or none. */
export type Positions = 'stay' | 'along' | 'none';

export interface Chosen {
  readonly picture: string;
  readonly order: string;
  readonly hidden: string;
  readonly positions: string;
}

export interface Seen {
  /** Whether the reader has opened a model of their own that classifies images. */
  readonly choice: boolean;
  readonly shape: Geometry;
  /** Tokens before those of the patches: the class token, with DeiT the distillation token, too. */
  readonly special: number;
  /** The pixel values of black and white, one per channel. */
  readonly black: readonly number[];
  readonly white: readonly number[];
  readonly order: readonly number[];
  readonly hidden: readonly number[];
  readonly inputs: PassInputs;
  /** [1, channel, side, side]. */
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
  /** [block, 1, query, key]; computed at its first use. */
  rollout(): Floats;
  readonly kernels: Kernels;
  /** Cosine similarities of the learned position embeddings, [place, place]. */
  readonly likeness: Floats;
}

/** The patch projection: [kernel, 1, patch, channels · patch], channels side by side, and [kernel]. */
interface Kernels {
  readonly weight: Floats;
  readonly bias: Floats;
}

const names = ['hook_embed', 'hook_pos_embed', 'hook_full_embed', 'blocks.*.attn.hook_pattern'];

export async function see(book: Book, chosen: Chosen): Promise<Seen> {
  const name = modelName(book.address);
  const { model, processor } = await book.shelf.model(name);
  if (!processor) throw new ClearformerError('invalid_argument', `${name} classifies no images`);
  const shape = geometryOf(model);
  const [order, hidden] = [orderFrom(shape, chosen.order), placesFrom(shape, chosen.hidden)];
  const { black, white } = await rangeOf(processor, shape);
  const { pixel_values } = await processor(await imageFrom(chosen.picture), { num_channels: channelsOf(shape) });
  checkSize(pixel_values, shape);
  const whole = { model: name, key: chosen.picture, inputs: { pixel_values } };
  const plain = await book.shelf.pass(whole, { names });
  const positions = activation(plain, 'hook_pos_embed').slice(0);
  const special = (positions.dims[0] ?? 0) - shape.places;
  const changed = rearranged(shape, pixel_values.data, order, hidden, black);
  const inputs = {
    model: name,
    key: [chosen.picture, chosen.order, chosen.hidden, chosen.positions].join(),
    inputs: { pixel_values: new Tensor('float32', changed, pixel_values.dims) },
    edits: positionEdits(chosen.positions, order, positions, special),
  };
  const same = inputs.edits.length === 0 && hidden.length === 0 && isIdentity(order);
  const { now } = await book.passes(same ? whole : inputs, names);
  const layers = Array.from({ length: model.cfg.n_layers }, (_, l) => `blocks.${l}.attn.hook_pattern`);
  const labels = (model.config.id2label ?? {}) as Record<number, string>;
  let rolled: Floats | undefined;
  return {
    choice: await ownIsThere(book),
    shape,
    special,
    black,
    white,
    order,
    hidden,
    inputs: same ? whole : inputs,
    pixels: inputs.inputs.pixel_values,
    classes: Array.from(now.logits.data, (_, i) => labels[i] ?? String(i)),
    ...(await scored(now.logits)),
    before: await scored(plain.logits),
    embed: activation(now, 'hook_embed').slice(0),
    positions: activation(now, 'hook_pos_embed').slice(0),
    full: activation(now, 'hook_full_embed').slice(0),
    patterns: layers.map((layer) => activation(now, layer).slice(0)),
    rollout() {
      rolled ??= attentionRollout(now.cache);
      return rolled;
    },
    kernels: await kernelsOf(model, shape, special),
    likeness: await likenessOf(positions.slice([special, null])),
  };
}

const isIdentity = (order: readonly number[]): boolean => order.every((patch, place) => patch === place);

const channelsOf = ({ channels }: Geometry): 1 | 3 => (channels === 1 ? 1 : 3);

async function ownIsThere({ shelf }: Book): Promise<boolean> {
  return shelf.has('own') && (await shelf.model('own')).processor !== undefined;
}

/** The pixel values that a processor gives black and white, one per channel. */
async function rangeOf(processor: ImageProcessor, shape: Geometry): Promise<Pick<Seen, 'black' | 'white'>> {
  const { side, channels } = shape;
  const of = async (grey: number): Promise<number[]> => {
    const image = { data: new Uint8Array(side * side).fill(grey), width: side, height: side, channels: 1 } as const;
    const { pixel_values } = await processor(image, { num_channels: channelsOf(shape) });
    const area = pixel_values.data.length / channels;
    return Array.from({ length: channels }, (_, channel) => pixel_values.data[channel * area] ?? 0);
  };
  return { black: await of(0), white: await of(255) };
}

function checkSize({ dims }: Floats, { channels, side }: Geometry): void {
  if (dims.join() === [1, channels, side, side].join()) return;
  const sizes = `pixel_values of [${dims.join(', ')}], the model reads [1, ${channels}, ${side}, ${side}]`;
  throw new ClearformerError('invalid_argument', `the image processor makes ${sizes}`);
}

async function scored(logits: Floats): Promise<Seen['before']> {
  const probabilities = await softmax(logits);
  return { logits, probabilities, best: largest(probabilities.data, 1)[0] ?? 0 };
}

function positionEdits(mode: string, order: readonly number[], positions: Floats, special: number): ActivationEdit[] {
  const pos = order.map((_, place) => place + special);
  if (mode === 'none') return [{ hook: 'hook_pos_embed', pos, op: 'zero' }];
  if (mode !== 'along' || isIdentity(order)) return [];
  const value = order.map((patch) => Array.from(positions.slice(patch + special).data));
  return [{ hook: 'hook_pos_embed', pos, op: 'replace', value }];
}

const kernelsOfModels = new WeakMap<PreTrainedModel, Promise<Kernels>>();

function kernelsOf(model: PreTrainedModel, shape: Geometry, special: number): Promise<Kernels> {
  return remembered(kernelsOfModels, model, () => measuredKernels(model, shape, special));
}

/**
 * Measures the kernels on the running model: each patch of a picture but the last has a single 1, at another number
 * than the other patches, and zeros elsewhere. The embedding of such a patch minus that of the last, which is zero, is
 * that number's weight in each kernel. There are as many pictures as the numbers of a patch need.
 */
async function measuredKernels(model: PreTrainedModel, shape: Geometry, special: number): Promise<Kernels> {
  const { side, channels, patch, numbers, places } = shape;
  const perPicture = places - 1;
  if (perPicture === 0) throw new ClearformerError('unsupported', 'the picture is a single patch');
  let weight = new Float32Array();
  let bias = new Float32Array();
  for (let from = 0; from < numbers; from += perPicture) {
    const count = Math.min(perPicture, numbers - from);
    const impulses = new Float32Array(channels * side * side);
    for (let i = 0; i < count; i++) impulses[pixelAt(shape, i, from + i)] = 1;
    const pixel_values = new Tensor('float32', impulses, [1, channels, side, side]);
    const filter = { names_filter: 'hook_embed', stop_at_layer: 0 } as const;
    const [, cache] = await model.run_with_cache({ pixel_values }, filter);
    const embed = activation({ cache }, 'hook_embed').slice(0);
    bias = Float32Array.from(embed.slice(special + places - 1).data);
    if (from === 0) weight = new Float32Array(bias.length * numbers);
    for (let i = 0; i < count; i++) {
      embed.slice(special + i).data.forEach((value, kernel) => {
        weight[kernel * numbers + from + i] = value - (bias[kernel] ?? 0);
      });
    }
  }
  return {
    weight: new Tensor('float32', weight, [bias.length, 1, patch, channels * patch]),
    bias: new Tensor('float32', bias, [bias.length]),
  };
}

/** Cosine similarities: rows normalised to length 1, then all dot products. */
async function likenessOf(rows: Floats): Promise<Floats> {
  const [count = 0, width = 0] = rows.dims;
  const weight = new Tensor('float32', new Float32Array(width).fill(1 / Math.sqrt(width)), [width]);
  const unit = await rms_norm(rows, width, { weight, eps: 1e-12 });
  const turned = new Float32Array(count * width);
  for (let row = 0; row < count; row++) {
    for (let i = 0; i < width; i++) turned[i * count + row] = unit.data[row * width + i] ?? 0;
  }
  return matmul(unit, new Tensor('float32', turned, [width, count]));
}

/** The weights of one query over the patches, without the special tokens, as a grid. */
export function overPlaces({ shape, special }: Seen, row: Floats): { dims: number[]; data: Float32Array } {
  return { dims: [shape.grid, shape.grid], data: Float32Array.from(row.data).subarray(special) };
}
