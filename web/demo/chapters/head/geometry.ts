// The layout of the six matrices. Two products, row times column: Q left of S with Kᵀ above it, A left of Z with V
// above it, all with one cell size; the corners above Q and above A are empty.

import { textWidths } from '../../book/text_widths.js';
import type { Window } from '../../book/window.js';
import type { MatrixName } from './head_numbers.js';

export interface Spans {
  readonly queries: Window;
  readonly keys: Window;
  /** Elements of q and k, and of v. */
  readonly inner: Window;
  readonly outer: Window;
}

type Quiet = '' | 'rows' | 'columns' | 'both';

export interface Geometry {
  readonly cell: { readonly width: number; readonly height: number };
  /** The top left corner of each matrix. */
  readonly places: Readonly<Record<MatrixName, { readonly x: number; readonly y: number }>>;
  /** The matrices that are drawn. */
  readonly shown: ReadonlySet<MatrixName>;
  /** Labels that an adjacent matrix draws. */
  readonly quiet: Readonly<Record<MatrixName, Quiet>>;
  readonly captionsAbove: ReadonlySet<MatrixName>;
  readonly left: number;
  /** Top of the lower row of matrices. */
  readonly middle: number;
  readonly height: number;
  readonly corner: { readonly width: number; readonly height: number };
  /** Height of the labels between the two rows of matrices, and width of the row labels. */
  readonly above: number;
  readonly labels: number;
}

/** Rows and columns as rendered: K is transposed. */
export function drawnSize(matrix: MatrixName, { queries, keys, inner, outer }: Spans): readonly [number, number] {
  const sizes = {
    Q: [queries, inner],
    K: [inner, keys],
    V: [keys, outer],
    S: [queries, keys],
    A: [queries, keys],
    Z: [queries, outer],
  } as const;
  const [rows, columns] = sizes[matrix];
  return [rows.count, columns.count];
}

export interface Room {
  readonly width: number;
  /** The height available for the matrices. */
  readonly height: number;
  /** Width of the longest row label. */
  readonly labels: number;
  /** Height of the labels above S and A. */
  readonly above: number;
}

const all: ReadonlySet<MatrixName> = new Set<MatrixName>(['Q', 'K', 'V', 'S', 'A', 'Z']);
const captionsAbove: ReadonlySet<MatrixName> = new Set<MatrixName>(['K', 'V']);
const gaps = { Q: 34, S: 34, A: 62 };
const top = 26;
/** Minimal widths and height for the read-out, buttons and captions if the matrices are small. */
const least = { Q: 250, S: 200, A: 250, Z: 190, upper: 160 };

export function geometryOf(spans: Spans, room: Room): Geometry {
  const { queries, keys, inner, outer } = spans;
  const columns = inner.count + 2 * keys.count + outer.count;
  const labels = room.labels + 20;
  const beforeZ = Math.max(gaps.A, room.labels + 24);
  const fixed = labels + gaps.Q + gaps.S + beforeZ + 10;
  const width = Math.min(44, (room.width - fixed) / columns);
  const wide = fixed + least.Q + least.S + least.A + least.Z <= room.width;
  // The width that captions and read-outs need in addition to the cells.
  const wanted = (count: number, needed: number): number => (wide ? Math.max(0, needed - count * width) : 0);
  const extra = {
    Q: wanted(inner.count, least.Q),
    S: wanted(keys.count, least.S),
    A: wanted(keys.count, least.A),
    Z: wanted(outer.count, least.Z),
  };
  const extras = extra.Q + extra.S + extra.A + extra.Z;
  const share = extras > 0 ? Math.min(1, (room.width - fixed - columns * width) / extras) : 0;
  const taken = fixed + columns * width + share * extras;
  const upper = Math.max(inner.count, keys.count);
  const between = 14 + room.above;
  const fitting = (room.height - top - between - 28) / (upper + queries.count);
  const height = Math.max(15, Math.min(26, fitting));
  const above = Math.max(upper * height, least.upper);
  const left = Math.max(0, (room.width - taken) / 2);
  const middle = top + above + between;
  // Q is right-aligned in its slot, next to S.
  const x = { Q: 0, S: 0, A: 0, Z: 0 };
  x.S = left + labels + inner.count * width + share * extra.Q + gaps.Q;
  x.Q = x.S - gaps.Q - inner.count * width;
  x.A = x.S + keys.count * width + share * extra.S + gaps.S;
  x.Z = x.A + keys.count * width + share * extra.A + beforeZ;
  const over = (count: number): number => top + above - count * height;
  return {
    cell: { width, height },
    places: {
      Q: { x: x.Q, y: middle },
      S: { x: x.S, y: middle },
      A: { x: x.A, y: middle },
      Z: { x: x.Z, y: middle },
      K: { x: x.S, y: over(inner.count) },
      V: { x: x.Z, y: over(keys.count) },
    },
    shown: all,
    quiet: { Q: 'columns', K: 'both', V: 'columns', S: 'rows', A: 'rows', Z: 'both' },
    captionsAbove,
    left,
    middle,
    height: middle + queries.count * height + 30,
    corner: { width: x.S - 46 - left, height: middle - 40 },
    above: room.above,
    labels,
  };
}

/** Widths of labels as the matrices render them, truncated. */
export function labelWidths(labels: readonly string[], size = 14.5): number[] {
  const longest = size > 14.5 ? 11 * size : 140;
  return textWidths(labels, size).map((width) => Math.min(longest, width));
}

/** The height of column labels: one line, or more if they are slanted so as not to overlap. */
export function labelsAbove(widths: readonly number[], cellWidth: number): number {
  const crowded = widths.some((width, i) => (width + (widths[i + 1] ?? width)) / 2 + 3 > cellWidth);
  return crowded ? Math.max(...widths) * 0.819 + 16 : 20;
}
