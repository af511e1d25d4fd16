// The numbers that a model has learned: the tensors of its checkpoint, by block and by box, with the values of one block.

import type { ParameterInfo, Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import type { Reading } from './reading.js';

export const kinds = ['attention', 'cross', 'mlp', 'norm'] as const;
export type Kind = (typeof kinds)[number];

/** A layer of the checkpoint: its matrix, or a norm's vector, with its bias. */
export interface Layer {
  /** In the checkpoint, within its block: `self_attn.q_proj`; `*` for the number of an expert. */
  readonly name: string;
  readonly kind: Kind;
  readonly rows: number;
  readonly columns: number;
  readonly bias: number;
  /** How many of this name, e.g. of experts. */
  readonly times: number;
  readonly count: number;
  /** The tensor in the checkpoint, and its values unless it is large, [rows, columns]. */
  readonly tensor: string;
  readonly values: Tensor<'float32'> | undefined;
}

export interface Inventory {
  readonly layers: readonly Layer[];
  /** Numbers of the block, of all blocks of its stack, of other stacks, and of the model. */
  readonly block: number;
  readonly blocks: number;
  readonly elsewhere: number;
  readonly total: number;
  /** All of the model's by box, and by the name of what is in no block. */
  readonly parts: readonly { readonly kind?: Kind; readonly name: string; readonly count: number }[];
  /** Whether the output layer has no weights of its own. */
  readonly tied: boolean;
}

/** Blocks with more numbers are not drawn. */
const mostValues = 400_000;

const sizeOf = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);
const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

interface Place {
  /** Before the number of the block. */
  readonly stack: string;
  readonly block: number;
  readonly rest: string;
}

/** `model.layers.2.mlp.up_proj.weight` is of block 2 of `model.layers`. */
function placeOf(name: string): Place | undefined {
  const [, stack = '', block = '', rest = ''] = /^(.*?)\.(\d+)\.(.+)$/.exec(name) ?? [];
  return stack === '' ? undefined : { stack, block: Number(block), rest };
}

/** By the names that the checkpoints of all families have. */
function kindOf(name: string): Kind {
  if (/norm|(^|[._])ln(_|\d|\.|$)/i.test(name)) return 'norm';
  if (/encoder_attn|crossattention|EncDecAttention|encdec_attn/i.test(name)) return 'cross';
  return /attn|attention/i.test(name) ? 'attention' : 'mlp';
}

export async function inventory(book: Book, { given, stack, layer }: Reading): Promise<Inventory> {
  const { model } = await book.shelf.model(given.model);
  const all = await model.named_parameters();
  const placed = all.map((one) => ({ one, place: placeOf(one.name), count: sizeOf(one.dims) }));
  const isOurs = (place: Place | undefined): boolean =>
    place !== undefined && (stack === 'blocks' || place.stack.includes(stack));
  const ours = placed.filter(({ place }) => isOurs(place));
  const last = Math.max(...ours.map(({ place }) => place?.block ?? 0)); // blocks may share one block's weights
  const here = ours.flatMap(({ one, place }) =>
    place?.block === Math.min(layer, last) ? [{ one, rest: place.rest }] : [],
  );
  const layers = layersOf(here);
  const block = sum(layers.map(({ count }) => count));
  const read = async (one: Layer): Promise<Layer> => ({ ...one, values: await model.parameter(one.tensor) });
  const inBlocks = placed.filter(({ place }) => place !== undefined);
  const outside = placed.filter(({ place }) => place === undefined);
  const isNorm = ({ one }: { one: ParameterInfo }): boolean => kindOf(one.name) === 'norm';
  const ofKind = (kind: Kind): number =>
    sum([
      ...inBlocks.filter(({ place }) => kindOf(place?.rest ?? '') === kind).map(({ count }) => count),
      ...(kind === 'norm' ? outside.filter(isNorm).map(({ count }) => count) : []),
    ]);
  const loose = new Map<string, number>();
  for (const { one, count } of outside) {
    const name = nameOf(one.name);
    if (!isNorm({ one })) loose.set(name, (loose.get(name) ?? 0) + count);
  }
  return {
    layers: block <= mostValues ? await Promise.all(layers.map(read)) : layers,
    block,
    blocks: sum(ours.map(({ count }) => count)),
    elsewhere: sum(inBlocks.filter(({ place }) => !isOurs(place)).map(({ count }) => count)),
    total: sum(placed.map(({ count }) => count)),
    parts: [
      ...[...loose].map(([name, count]) => ({ name, count })),
      ...kinds.map((kind) => ({ kind, name: kind, count: ofKind(kind) })),
    ].filter(({ count }) => count > 0),
    tied: model.cfg.tie_word_embeddings === true,
  };
}

/** The last name of a tensor that is not `weight`. */
const nameOf = (tensor: string): string => layerName(tensor).split('.').at(-1) ?? tensor;
const layerName = (tensor: string): string => tensor.replace(/\.(weight|bias)$/, '');

/** The tensors of a block, those of equal names but for a number together, each bias with its matrix. */
function layersOf(tensors: readonly { readonly one: ParameterInfo; readonly rest: string }[]): Layer[] {
  const groups = new Map<string, ParameterInfo[]>();
  for (const { one, rest } of tensors) {
    const name = layerName(rest).replace(/\.\d+(?=\.)/g, '.*');
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [...groups].map(([name, group]) => {
    const isBias = ({ name: tensor }: ParameterInfo): boolean => tensor.endsWith('.bias');
    const matrices = group.filter((one) => !isBias(one));
    const matrix = matrices[0] ?? group[0];
    const dims = matrix?.dims ?? [];
    const rows = dims.length > 1 ? (dims[0] ?? 1) : 1;
    const count = sum(group.map((one) => sizeOf(one.dims)));
    return {
      ...{ name, kind: kindOf(name), rows, columns: sizeOf(dims) / rows, times: Math.max(1, matrices.length), count },
      bias: matrices.length > 0 ? sum(group.filter(isBias).map((one) => sizeOf(one.dims))) : 0,
      tensor: matrix?.name ?? '',
      values: undefined,
    };
  });
}
