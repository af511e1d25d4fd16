// Scores heads for four attention patterns: the mean attention to the keys of the pattern, over the queries that have
// such a key. With t the tokens of the row, query i attends
//   previous-token head   to i - 1
//   first-token head      to the first token                                 (queries after it)
//   duplicate-token head  to every j < i with t[j] = t[i]
//   induction head        to every j <= i with t[j-1] = t[i]: what followed this token earlier
// Sources: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Olsson et al. 2022, "In-context
// Learning and Induction Heads", arXiv 2209.11895; Wang et al. 2022, arXiv 2211.00593 (duplicate-token heads).

import { ClearformerError } from '../support/error.js';
import { type IntegerInput, integerMatrix } from '../tensor/integer_input.js';
import { Tensor } from '../tensor/tensor.js';
import { type AttentionPatterns, selfAttention } from './attention_patterns.js';

/** The patterns that heads are scored for. */
export const headKinds = ['previous_token', 'first_token', 'duplicate_token', 'induction'] as const;
/** A pattern that heads are scored for. */
export type HeadKind = (typeof headKinds)[number];

/** [n_layers, n_heads] for each kind, between 0 and 1; NaN if no query of these tokens has such a key. */
export type HeadScores = Record<HeadKind, Tensor<'float32'>>;

/** A query and its keys of the pattern. */
interface Sight {
  row: number;
  query: number;
  keys: number[];
}

/**
 * Scores every head from attention maps (see attentionRollout) and the tokens [batch, position] they were computed
 * from. Positions where `attention_mask` is 0 count neither as queries nor as keys. An encoder's heads, which also
 * attend to later positions, are scored by the same keys. Throws what attentionRollout does, and `shape_mismatch` for
 * tokens of other dims.
 */
export function headScores(
  patterns: AttentionPatterns,
  input_ids: IntegerInput,
  attention_mask?: IntegerInput | undefined,
): HeadScores {
  const maps = selfAttention('headScores', patterns);
  const dims = maps[0]?.dims ?? [];
  const tokens = matrixLike(dims, 'input_ids', input_ids);
  const mask = attention_mask === undefined ? undefined : matrixLike(dims, 'attention_mask', attention_mask);
  const counts = (at: number) => mask === undefined || mask[at] !== 0;
  const scoreOf = (kind: HeadKind) => scored(maps, sights(kind, dims, tokens, counts));
  return Object.fromEntries(headKinds.map((kind) => [kind, scoreOf(kind)])) as HeadScores;
}

function matrixLike(dims: readonly number[], name: string, input: IntegerInput): Int32Array {
  const matrix = integerMatrix(name, input);
  if (matrix.dims[0] === dims[0] && matrix.dims[1] === dims[2]) return matrix.data;
  throw new ClearformerError(
    'shape_mismatch',
    `headScores: ${name} is [${matrix.dims.join(', ')}], the attention maps are of [${dims[0]}, ${dims[2]}]`,
  );
}

type Counts = (at: number) => boolean;

function sights(kind: HeadKind, dims: readonly number[], tokens: Int32Array, counts: Counts): Sight[] {
  const [batch = 0, , length = 0] = dims;
  const found: Sight[] = [];
  for (let row = 0; row < batch; row++) {
    const token = (at: number) => (counts(row * length + at) ? tokens[row * length + at] : undefined);
    const places = Array.from({ length }, (_, at) => at).filter((at) => token(at) !== undefined);
    for (const query of places) {
      const keys = places.filter((key) => key <= query && isSeen(kind, token, places, query, key));
      if (keys.length > 0) found.push({ row, query, keys });
    }
  }
  return found;
}

function isSeen(
  kind: HeadKind,
  token: (at: number) => number | undefined,
  places: readonly number[],
  query: number,
  key: number,
): boolean {
  if (kind === 'previous_token') return key === query - 1;
  if (kind === 'first_token') return key === places[0] && key < query;
  if (kind === 'duplicate_token') return key < query && token(key) === token(query);
  return key > 0 && token(key - 1) === token(query);
}

function scored(maps: readonly Tensor<'float32'>[], seen: readonly Sight[]): Tensor<'float32'> {
  const heads = maps[0]?.dims[1] ?? 0;
  const means = maps.flatMap((map) => Array.from({ length: heads }, (_, head) => meanAttention(map, head, seen)));
  return new Tensor('float32', means, [maps.length, heads]);
}

function meanAttention({ data, dims }: Tensor<'float32'>, head: number, seen: readonly Sight[]): number {
  const [, heads = 0, length = 0] = dims;
  let sum = 0;
  for (const { row, query, keys } of seen) {
    const start = ((row * heads + head) * length + query) * length;
    for (const key of keys) sum += data[start + key] as number;
  }
  return seen.length === 0 ? Number.NaN : sum / seen.length;
}
