// What chapter 1 shows: a text as tokens, their rows of the embedding table, the nearest rows, and the input of the
// first block.

import type { Tensor } from 'clearformer';
import { type Book, firstModel } from '../../book/book.js';
import { remembered } from '../../book/remembered.js';
import { activation, type PassInputs, type Shelved } from '../../book/shelf.js';
import { lettersOf, sorter } from '../../book/sorter.js';
import { cosines, largestDifference, ofOneLength } from '../../book/tensors.js';
import type { Piece } from '../../book/token_texts.js';
import { weightsOf } from '../../book/weights.js';

type Float = Tensor<'float32'>;

export const readers = ['stories260K', 'marian-tiny-en-fr', 'gpt-nano-sort'] as const;
export type Reader = (typeof readers)[number];

/** The embedding table of each model in its checkpoint, and the prefix of its embedding hooks. */
const places = {
  stories260K: { table: 'model.embed_tokens.weight', side: '' },
  'marian-tiny-en-fr': { table: 'model.shared.weight', side: 'encoder.' },
  'gpt-nano-sort': { table: 'transformer.wte.weight', side: '' },
} as const;

interface Made {
  readonly source: string;
  readonly numbers: Float;
}

/** A text as tokens of a model. */
export interface Split {
  readonly reader: Reader;
  readonly text: string;
  readonly ids: readonly number[];
  /** The tokens as spelt in the vocabulary. */
  readonly pieces: readonly Piece[];
  /** The model's context in tokens. */
  readonly room: number;
  /** The size of the vocabulary. */
  readonly vocabulary: number;
  /** Number of characters left out because they are not in the model's alphabet. */
  readonly dropped: number;
}

/** The rows of the table around the chosen one, and the chosen token's embedding in the model. */
export interface Table {
  readonly id: number;
  readonly piece: Piece;
  readonly rows: number;
  readonly first: number;
  readonly labels: readonly string[];
  /** [rows of the window, d]. */
  readonly part: Made;
  /** hook_embed of the token, [d]. */
  readonly taken: Made;
  /** Whether the token is none of the text's, and its pass is of it alone. */
  readonly alone: boolean;
  /** The factor between the row and the embedding, the model's embedding scale. */
  readonly scale: number;
  readonly difference: number;
}

export interface Near {
  readonly id: number;
  readonly piece: Piece;
  readonly rows: number;
  readonly source: string;
  readonly nearest: readonly { readonly piece: Piece; readonly cosine: number }[];
  /** The chosen row and the nearest one. */
  readonly rowsOfBoth: readonly Made[];
}

/** Token + position = input. */
export interface Sum {
  readonly pos: number;
  readonly piece: Piece;
  readonly token: Made;
  /** Undefined if the model adds none. */
  readonly position: Made | undefined;
  readonly input: Made;
  readonly difference: number;
}

export async function splitOf(book: Book, reader: Reader, text: string): Promise<Split> {
  const { tokenizer, texts, model } = await book.shelf.model(reader);
  if (!tokenizer || !texts) throw new TypeError(`${reader} reads no text`);
  const read = reader === sorter ? lettersOf(text) : text;
  const ids = Array.from(tokenizer(read).input_ids.data, Number);
  const pieces = ids.map((id) => texts.alone(id));
  const { n_ctx: room, d_vocab: vocabulary } = model.cfg;
  return { reader, text: read, ids, pieces, room, vocabulary, dropped: text.length - read.length };
}

function inputsOf(reader: Reader, ids: readonly number[]): PassInputs {
  const input_ids = [[...ids]];
  const inputs = reader === 'marian-tiny-en-fr' ? { input_ids, decoder_input_ids: [[0]] } : { input_ids };
  return { model: reader, key: ids.join(), inputs };
}

/** The whole table, [tokens, d], from the checkpoint. */
async function tableOf(reader: Reader): Promise<Made> {
  const { table } = places[reader];
  return { source: table, numbers: (await weightsOf(reader)).get(table) };
}

/** The chosen token: one of the vocabulary, or the one at a position of the text. */
export interface Chosen {
  readonly split: Split;
  readonly pos: number;
  /** An id chosen by the reader. */
  readonly id: number | undefined;
}

export async function readTable(book: Book, { split, pos, id }: Chosen): Promise<Table> {
  const { reader, ids } = split;
  const { model, texts } = (await book.shelf.model(reader)) as Required<Shelved>;
  const table = await tableOf(reader);
  const [rows = 0, d = 0] = table.numbers.dims;
  const chosen = id ?? ids[pos] ?? 0;
  const hook = `${places[reader].side}hook_embed`;
  const [read, at] = id === undefined ? [ids.slice(0, split.room), pos] : [[id], 0];
  const pass = await book.shelf.pass(inputsOf(reader, read), { names: [hook] });
  const height = Math.min(rows, 15);
  const first = Math.max(0, Math.min(rows - height, chosen - 7));
  const taken = activation(pass, hook).slice(0, at);
  const config = model.config as Readonly<Record<string, unknown>>;
  const scale = config.scale_embedding === true ? Math.sqrt(d) : 1;
  return {
    id: chosen,
    piece: texts.alone(chosen),
    rows,
    first,
    labels: Array.from({ length: height }, (_, r) => `${first + r} ${texts.alone(first + r).label}`),
    part: {
      source: `${table.source}[${first}:${first + height}]`,
      numbers: table.numbers.slice([first, first + height]),
    },
    taken: { source: `${hook}[0, ${at}]${id === undefined ? '' : `, input_ids [[${id}]]`}`, numbers: taken },
    alone: id !== undefined,
    scale,
    difference: largestDifference(
      taken.data,
      table.numbers.slice(chosen).data.map((value) => value * scale),
    ),
  };
}

const normed = new Map<Reader, Promise<Float>>();

function normedTable(reader: Reader, { numbers }: Made): Promise<Float> {
  return remembered(normed, reader, () => ofOneLength(numbers));
}

const shownNear = 8;

/** The cosine similarity of a row with every row: [tokens]. */
export async function likeness(reader: Reader, id: number): Promise<Float> {
  const rows = await normedTable(reader, await tableOf(reader));
  return (await cosines(rows, rows.slice([id, id + 1]))).slice(null, 0);
}

export async function readNear(book: Book, { split, pos, id }: Chosen): Promise<Near> {
  const { reader, ids } = split;
  const { texts } = (await book.shelf.model(reader)) as Required<Shelved>;
  const table = await tableOf(reader);
  const [rows = 0, d = 0] = table.numbers.dims;
  const chosen = id ?? ids[pos] ?? 0;
  const { data } = await likeness(reader, chosen);
  const order = Array.from(data.keys())
    .filter((other) => other !== chosen)
    .sort((a, b) => (data[b] ?? 0) - (data[a] ?? 0));
  const row = (of: number): Made => ({ source: `${table.source}[${of}]`, numbers: table.numbers.slice(of) });
  return {
    id: chosen,
    piece: texts.alone(chosen),
    rows,
    source: `matmul(rms_norm(${table.source}), rms_norm(${table.source}[${chosen}])ᵀ) / ${d}`,
    nearest: order.slice(0, shownNear).map((other) => ({ piece: texts.alone(other), cosine: data[other] ?? 0 })),
    rowsOfBoth: [row(chosen), row(order[0] ?? chosen)],
  };
}

export async function readSum(book: Book, { split, pos }: Chosen): Promise<Sum> {
  const { reader, ids, pieces } = split;
  const { side } = places[reader];
  const added = reader !== firstModel;
  const input = added ? `${side}hook_full_embed` : 'blocks.0.hook_resid_pre';
  const names = [`${side}hook_embed`, ...(added ? [`${side}hook_pos_embed`] : []), input];
  const pass = await book.shelf.pass(inputsOf(reader, ids.slice(0, split.room)), { names });
  const made = (name: string): Made => ({
    source: `${name}[0, ${pos}]`,
    numbers: activation(pass, name).slice(0, pos),
  });
  const token = made(`${side}hook_embed`);
  const position = added ? made(`${side}hook_pos_embed`) : undefined;
  const whole = made(input);
  const sum = token.numbers.data.map((value, i) => value + (position?.numbers.data[i] ?? 0));
  return {
    pos,
    piece: pieces[pos] ?? { id: 0, text: '', label: '', special: false },
    token,
    position,
    input: whole,
    difference: largestDifference(sum, whole.numbers.data),
  };
}
