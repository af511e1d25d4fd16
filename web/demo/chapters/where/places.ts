// Sinusoidal encodings in chapter 3: the table, the shift by δ as a matrix, its product with row i, and which rows look
// alike.

import { distinct_encodings, matmul, shift_matrix, sinusoidal_encoding, type Tensor } from 'clearformer';
import { remembered } from '../../book/remembered.js';
import { columnsOf, largestDifference, reshaped, stacked } from '../../book/tensors.js';
import { nearestOf, within } from '../../book/within.js';

type Float = Tensor<'float32'>;
type Layout = 'interleaved' | 'halves';

/** Rows shown. */
export const places = 48;
/** Positions compared by `distinct_encodings`: a single sine in float32 repeats after some ten thousand. */
const countedFor = (d: number): number => (d <= 2 ? 100_000 : 10_000);
/** Rows closer than this, as a fraction of a hand's length, look the same. */
const twinDistance = 0.06;

export interface Asked {
  readonly i: number;
  readonly delta: number;
  readonly d: number;
  readonly pair: number;
  readonly sines: boolean;
  readonly misprint: boolean;
  readonly layout: Layout;
}

export const columnChoices = [1, 2, 4, 8, 16] as const;

/** What is chosen, clamped to the places and columns that there are. */
export function askedOf(value: (key: string) => string): Asked {
  const d = nearestOf(Number(value('d')), columnChoices, 16);
  const i = within(Number(value('i')), places);
  return {
    i,
    delta: within(Number(value('delta')), places - i),
    d,
    pair: within(Number(value('pair')), Math.ceil(d / 2)),
    sines: value('sines') === '1' && d > 1,
    misprint: value('misprint') === '1',
    layout: value('layout') === 'halves' ? 'halves' : 'interleaved',
  };
}

/** A matrix or a vector with the call that made it. */
export interface Made {
  readonly source: string;
  readonly numbers: Float;
}

/** The shift from i to i + δ in the chosen pair. */
export interface Stepped {
  /** [2, 2], correct or misprinted. */
  readonly block: Made;
  readonly from: Made;
  readonly got: Made;
  /** Row i + δ of the table. */
  readonly wanted: Made;
  readonly difference: number;
  /** The largest difference over all pairs. */
  readonly most: number;
}

export interface Places extends Asked {
  readonly table: Made;
  /** Columns of sine and cosine of each pair; the last may have no cosine. */
  readonly columns: readonly (readonly [number, number | undefined])[];
  /** The angle of each hand per position, in radians; empty for an odd number of columns. */
  readonly omegas: readonly number[];
  /** Distance of each row from row i, as a fraction of a hand's length. */
  readonly distances: readonly number[];
  readonly twins: readonly number[];
  /** The number of distinct encodings, and of positions compared. */
  readonly distinct: { readonly count: number; readonly of: number };
  /** The shift, or why there is none. */
  readonly stepped: Stepped | string;
}

const call = (name: string, ...given: (string | number)[]): string => `${name}(${given.join(', ')})`;

export async function placesOf(asked: Asked): Promise<Places> {
  const { d, i, delta, layout, sines } = asked;
  const options = { layout };
  const whole = await sinusoidal_encoding(places, d, options);
  const half = Math.ceil(d / 2);
  const cosine = (j: number): number => (layout === 'halves' ? half + j : 2 * j + 1);
  const columns = Array.from({ length: half }, (_, j) => {
    return [layout === 'halves' ? j : 2 * j, cosine(j) < d ? cosine(j) : undefined] as const;
  });
  const name = call('sinusoidal_encoding', places, d, ...(layout === 'halves' ? ["{ layout: 'halves' }"] : []));
  const shown = sines ? columns.map(([sine]) => sine) : Array.from({ length: d }, (_, c) => c);
  const kept = columnsOf(whole, shown);
  const distances = distancesTo(kept, i, Math.sqrt(half));
  return {
    ...asked,
    table: { source: name, numbers: whole },
    columns,
    omegas: await turns(d, options),
    distances,
    twins: distances.flatMap((distance, row) => (row !== i && distance < twinDistance ? [row] : [])),
    distinct: { count: await countDistinct(d), of: countedFor(d) },
    stepped: d % 2 === 1 ? await refusal(delta, d) : await step(asked, whole, name, columns),
  };
}

const distinctCounts = new Map<number, Promise<number>>();

/** Counting takes tens of milliseconds: cached per number of columns, independently of the layout. */
function countDistinct(d: number): Promise<number> {
  return remembered(distinctCounts, d, () => distinct_encodings(countedFor(d), d));
}

/** The package's error message for a shift where a sine has no cosine. */
async function refusal(delta: number, d: number): Promise<string> {
  try {
    await shift_matrix(delta, d);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function turns(d: number, options: { layout: Layout }): Promise<number[]> {
  if (d % 2 === 1) return [];
  const one = await shift_matrix(1, d, options);
  return Array.from({ length: d / 2 }, (_, j) => {
    const [sine, cosine] = options.layout === 'halves' ? [j, d / 2 + j] : [2 * j, 2 * j + 1];
    return Math.atan2(Number(one.slice(sine, cosine).item()), Number(one.slice(sine, sine).item()));
  });
}

async function step(asked: Asked, table: Float, name: string, columns: Places['columns']): Promise<Stepped> {
  const { i, delta, d, pair, misprint, layout } = asked;
  const [sine = 0, cosine = 1] = columns[pair] ?? [];
  const matrix = await shift_matrix(delta, d, { layout });
  const at = (row: number, column: number): number => Number(matrix.slice(row, column).item());
  const right = [at(sine, sine), at(sine, cosine), at(cosine, sine), at(cosine, cosine)];
  const [cos = 0, sin = 0, minusSin = 0] = right;
  const block = stacked(
    misprint
      ? [
          [cos, sin],
          [cos, minusSin],
        ]
      : [right.slice(0, 2), right.slice(2)],
  );
  const vector = (row: number): Float =>
    reshaped(columnsOf(reshaped(table.slice(row), [1, d]), [sine, cosine]), [2, 1]);
  const from = vector(i);
  const wanted = vector(i + delta);
  const got = await matmul(block, from);
  const moved = await matmul(matrix, reshaped(table.slice(i), [d, 1]));
  const where = layout === 'halves' ? `[[${sine}, ${cosine}]]` : `[${sine}:${cosine + 1}]`;
  const both = layout === 'halves' ? where : `[${sine}:${cosine + 1}, ${sine}:${cosine + 1}]`;
  const rows = `${name}[${i}]${where}`;
  const shift = `${call('shift_matrix', delta, d, ...(layout === 'halves' ? ["{ layout: 'halves' }"] : []))}${both}`;
  const source = misprint ? `${shift} with its second row misprinted` : shift;
  return {
    block: { source, numbers: block },
    from: { source: rows, numbers: from },
    got: { source: `matmul(${source}, ${rows})`, numbers: got },
    wanted: { source: `${name}[${i + delta}]${where}`, numbers: wanted },
    difference: largestDifference(got.data, wanted.data),
    most: largestDifference(moved.data, table.slice(i + delta).data),
  };
}

/** The distance of each row from row i, divided by `unit`, the combined length of all hands. */
function distancesTo({ dims, data }: Float, i: number, unit: number): number[] {
  const [rows = 0, columns = 0] = dims;
  return Array.from({ length: rows }, (_, r) => {
    let sum = 0;
    for (let c = 0; c < columns; c++) sum += ((data[r * columns + c] ?? 0) - (data[i * columns + c] ?? 0)) ** 2;
    return Math.sqrt(sum) / unit;
  });
}
