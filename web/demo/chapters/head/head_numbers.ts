// The matrices of one attention head: of a forward pass without and with the reader's edits, or computed from the
// reader's own Q, K and V.

import { ClearformerError, Mask, matmul, scaled_dot_product_attention, type Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import { leadingOdds, type Odds } from '../../book/odds.js';
import { activation, type Pass, type Shelved } from '../../book/shelf.js';
import { transposed } from '../../book/tensors.js';
import { type Part, partText } from '../../book/window.js';
import { within } from '../../book/within.js';
import { type HeadHooks, headHooks } from './hooks.js';
import { type OwnMatrices, parseOwn } from './own_matrices.js';

export type Float = Tensor<'float32'>;
export type MatrixName = 'Q' | 'K' | 'V' | 'S' | 'A' | 'Z';
/** What S shows: q · k, the same divided by √d, or with the mask added. */
export type Stage = 'raw' | 'scaled' | 'masked';
/** The matrices of one head, each [rows, columns]; S at its three stages. */
type HeadNumbers = Readonly<Record<'Q' | 'K' | 'V' | 'A' | 'Z' | Stage, Float>>;

export interface HeadData {
  readonly before: HeadNumbers;
  /** The same object as `before` without edits. */
  readonly now: HeadNumbers;
  /** By how much the products are divided for the scores; NaN where they are no multiple of them (a bias, a cap). */
  readonly divisor: number;
  readonly queries: readonly string[];
  readonly keys: readonly string[];
  readonly focus: number;
  /** The expression for a matrix and the slice of it shown. */
  source(matrix: MatrixName, stage: Stage, part: MatrixPart): string;
  /** For a head of a model. */
  readonly hooks?: HeadHooks;
  readonly shelved?: Shelved;
  /** The input of the head's projections, [position, d_model]. */
  readonly input?: Float;
  /** q and k before rotary positions are applied, and v. */
  readonly projected?: Readonly<Record<'Q' | 'K' | 'V', Float>>;
  /** q and k of all heads, [position, head, d]. */
  readonly all?: Readonly<Record<'Q' | 'K', Float>>;
  readonly odds: readonly Odds[];
  /** How many tokens the text has; these are the first of them if the model's context is shorter. */
  readonly of: number;
}

/** The slice of a matrix that is shown. */
interface MatrixPart {
  readonly rows: Part;
  readonly columns: Part;
}

export const at = ({ dims, data }: Float, row: number, column: number): number =>
  data[row * (dims[1] ?? 0) + column] ?? Number.NaN;

export const rowOf = (tensor: Float, row: number): Float32Array => tensor.slice(row).data;

function divisorOf({ raw, scaled }: HeadNumbers): number {
  const most = largestAt(raw.data.map(Math.abs));
  const [product, score] = [raw.data[most] ?? 0, scaled.data[most] ?? 0];
  const divisor = product / score;
  const bound = 1e-4 * Math.abs(score);
  return raw.data.every((value, i) => Math.abs(value / divisor - (scaled.data[i] ?? 0)) <= bound)
    ? divisor
    : Number.NaN;
}

/** Whether the scores are the products divided by √d. */
export const byRoot = ({ divisor, now }: HeadData): boolean =>
  Math.abs(divisor / Math.sqrt(now.Q.dims[1] ?? 1) - 1) < 1e-3;

/** The argmax of a row. */
export function largestAt(row: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < row.length; i++) if ((row[i] ?? 0) > (row[best] ?? 0)) best = i;
  return best;
}

interface Wanted {
  readonly layer: number;
  readonly head: number;
  /** The reader's own matrices as in the address; empty: the model's. */
  readonly own: string;
  readonly ownBefore: string;
  readonly causal: boolean;
  readonly focus: string;
}

export async function headData(book: Book, wanted: Wanted): Promise<HeadData> {
  return wanted.own === '' ? modelHead(book, wanted) : ownHead(wanted);
}

async function modelHead(book: Book, wanted: Wanted): Promise<HeadData> {
  const shelved = await book.shelf.model(book.modelName);
  const hooks = headHooks(shelved.model, wanted.layer, wanted.head);
  const { inputs, tokens, focus, of } = await book.sentence();
  const { head, q, k, v, raw, scores, pattern, z, input, plain } = hooks;
  const names = [...new Set([q, k, v, raw, scores, pattern, z, input, plain.Q, plain.K])];
  const { clean, now } = await book.passes(inputs, names);
  const before = await numbersOf(clean, hooks);
  const labels = tokens.map(({ label }) => label);
  return {
    before,
    now: now === clean ? before : await numbersOf(now, hooks),
    divisor: divisorOf(before),
    queries: labels,
    keys: labels,
    focus,
    source: (matrix, stage, part) => hookSource(hooks, matrix, stage, part),
    hooks,
    shelved,
    input: activation(now, input).slice(0),
    projected: {
      Q: activation(now, plain.Q).slice(0, null, head),
      K: activation(now, plain.K).slice(0, null, hooks.kvHead),
      V: activation(now, v).slice(0, null, hooks.kvHead),
    },
    all: { Q: activation(now, q).slice(0), K: activation(now, k).slice(0) },
    odds: now === clean ? [] : await leadingOdds(shelved, clean, now, 2),
    of,
  };
}

async function numbersOf(pass: Pass, hooks: HeadHooks): Promise<HeadNumbers> {
  const { head, kvHead } = hooks;
  const Q = activation(pass, hooks.q).slice(0, null, head);
  const K = activation(pass, hooks.k).slice(0, null, kvHead);
  return {
    Q,
    K,
    V: activation(pass, hooks.v).slice(0, null, kvHead),
    raw: await matmul(Q, transposed(K)),
    scaled: activation(pass, hooks.raw).slice(0, head),
    masked: activation(pass, hooks.scores).slice(0, head),
    A: activation(pass, hooks.pattern).slice(0, head),
    Z: activation(pass, hooks.z).slice(0, null, head),
  };
}

function hookSource(hooks: HeadHooks, matrix: MatrixName, stage: Stage, { rows, columns }: MatrixPart): string {
  const { head, kvHead, q, k, v, raw, scores, pattern, z } = hooks;
  const rest = columns === undefined ? '' : `, ${partText(columns)}`;
  if (matrix === 'Q') return `${q}[0, ${partText(rows)}, ${head}${rest}]`;
  if (matrix === 'K') return `${k}[0, ${partText(rows)}, ${kvHead}${rest}]`;
  if (matrix === 'V') return `${v}[0, ${partText(rows)}, ${kvHead}${rest}]`;
  if (matrix === 'Z') return `${z}[0, ${partText(rows)}, ${head}${rest}]`;
  const name = matrix === 'A' ? pattern : stage === 'scaled' ? raw : scores;
  const part = rows === undefined && columns === undefined ? '' : `, ${partText(rows)}, ${partText(columns)}`;
  if (matrix === 'S' && stage === 'raw')
    return `matmul(${q}[0, ${partText(rows)}, ${head}], ${k}[0, ${partText(columns)}, ${kvHead}]ᵀ)`;
  return `${name}[0, ${head}${part}]`;
}

async function ownHead({ own, ownBefore, causal, focus }: Wanted): Promise<HeadData> {
  const now = await ownNumbers(parseOwn(own), causal);
  const chosen = Number(focus);
  const [rows = 0] = now.Q.dims;
  const [keys = 0] = now.K.dims;
  const names = (count: number, letter: string): string[] =>
    Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);
  return {
    before: ownBefore === '' ? now : await ownNumbers(parseOwn(ownBefore), causal),
    now,
    divisor: Math.sqrt(now.Q.dims[1] ?? 1),
    queries: names(rows, 'q'),
    keys: names(keys, 'k'),
    focus: Number.isNaN(chosen) ? rows - 1 : within(chosen, rows),
    source: (matrix, stage, part) => ownSource(matrix, stage, part, causal),
    odds: [],
    of: rows,
  };
}

async function ownNumbers({ Q, K, V }: OwnMatrices, is_causal: boolean): Promise<HeadNumbers> {
  const [, scaled] = await scaled_dot_product_attention(Q, K, V, { need_scores: 'raw' });
  const mask = is_causal ? Mask.causal() : null;
  const [, masked] = await scaled_dot_product_attention(Q, K, V, { mask, need_scores: 'masked' });
  const [Z, A] = await scaled_dot_product_attention(Q, K, V, { mask, need_weights: true });
  if (!V.dims[1]) throw new ClearformerError('shape_mismatch', 'V has no columns');
  return { Q, K, V, raw: await matmul(Q, transposed(K)), scaled, masked, A, Z };
}

function ownSource(matrix: MatrixName, stage: Stage, { rows, columns }: MatrixPart, causal: boolean): string {
  const part = rows === undefined && columns === undefined ? '' : `[${partText(rows)}, ${partText(columns)}]`;
  if (matrix === 'Q' || matrix === 'K' || matrix === 'V') return `${matrix}${part}`;
  const mask = causal ? 'is_causal: true, ' : '';
  if (matrix === 'Z') return `scaled_dot_product_attention(Q, K, V${causal ? ', { is_causal: true }' : ''})${part}`;
  if (matrix === 'A') return `scaled_dot_product_attention(Q, K, V, { ${mask}need_weights: true })[1]${part}`;
  if (stage === 'raw') return `matmul(Q, Kᵀ)${part}`;
  return `scaled_dot_product_attention(Q, K, V, { ${mask}need_scores: '${stage === 'scaled' ? 'raw' : 'masked'}' })[1]${part}`;
}
