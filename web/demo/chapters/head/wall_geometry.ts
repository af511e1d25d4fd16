// Layout of the matrices in class mode. At its font size all six do not fit: the matrix of the selected cell is shown with
// those it is computed from: S with Q and Kᵀ, A with S, Z with A and V; Q, K and V are shown together.

import { drawnSize, type Geometry, type Room, type Spans } from './geometry.js';
import type { MatrixName } from './head_numbers.js';

/** Two matrices side by side, optionally with a third above the second. */
interface Arrangement {
  readonly first: MatrixName;
  readonly second: MatrixName;
  readonly above?: MatrixName;
}

const views: Arrangement = { first: 'Q', second: 'V', above: 'K' };
const arrangements: Readonly<Record<MatrixName, Arrangement>> = {
  Q: views,
  K: views,
  V: views,
  S: { first: 'Q', second: 'S', above: 'K' },
  A: { first: 'S', second: 'A' },
  Z: { first: 'A', second: 'Z', above: 'V' },
};

/** Height of a caption; width of brackets and gaps left of a matrix, without its labels. */
const line = 36;
const beside = 24;
const gap = 46;
/** Minimum width of a caption, and of the buttons under S. */
export const captionRoom = 340;
const most = { width: 66, height: 34 };
const least = { width: 24, height: 18 };
/** Minimum height of the read-out above the first matrix, in rows. */
const readRows = 8;

export function wallGeometry(spans: Spans, room: Room, chosen: MatrixName): Geometry {
  const { first, second, above } = arrangements[chosen];
  const [firstRows, firstColumns] = drawnSize(first, spans);
  const [secondRows, secondColumns] = drawnSize(second, spans);
  const [upperRows, upperColumns] = above ? drawnSize(above, spans) : [0, 0];
  const labels = room.labels + beside;
  const own = second === 'V' || above === 'V'; // rows of keys have names of their own
  const between = own ? labels + 16 : gap;
  const columns = firstColumns + Math.max(secondColumns, upperColumns);
  const width = Math.max(least.width, Math.min(most.width, (room.width - labels - between - 12) / columns));
  // Labels of S or A are between the two rows; those of Kᵀ, without S, are above it.
  const over = above === 'K' && second === 'V' ? room.above : 0;
  const middleGap = over > 0 ? 18 : 14 + room.above;
  const lower = Math.max(firstRows, secondRows);
  const upper = Math.max(upperRows, readRows);
  const height = Math.max(
    least.height,
    Math.min(most.height, (room.height - 2 * line - over - middleGap) / (upper + lower)),
  );
  const middle = line + over + upper * height + middleGap;
  const slot = Math.max(captionRoom, Math.max(secondColumns, upperColumns) * width);
  const taken = labels + between + Math.max(captionRoom, firstColumns * width) + slot + 12;
  const left = Math.max(0, (room.width - taken) / 2);
  const x = left + labels;
  const place = x + Math.max(captionRoom, firstColumns * width) + between;
  const places: Partial<Record<MatrixName, { x: number; y: number }>> = {
    [first]: { x, y: middle },
    [second]: { x: place, y: middle },
    ...(above && { [above]: { x: place, y: middle - middleGap - upperRows * height } }),
  };
  const nowhere = { x: 0, y: 0 };
  const shown = new Set<MatrixName>([first, second, ...(above ? [above] : [])]);
  return {
    cell: { width, height },
    places: { Q: nowhere, K: nowhere, V: nowhere, S: nowhere, A: nowhere, Z: nowhere, ...places },
    shown,
    quiet: {
      Q: 'columns',
      K: over > 0 ? 'columns' : 'both',
      V: 'columns',
      S: first === 'S' ? '' : 'rows',
      A: first === 'A' ? '' : 'rows',
      Z: 'both',
    },
    captionsAbove: new Set(above ? [above] : []),
    left,
    middle,
    height: middle + lower * height + line,
    above: over > 0 ? 0 : room.above,
    labels,
    corner: { width: place - between + 8 - left - (own ? 0 : 8), height: middle - middleGap - 6 + (over > 0 ? 0 : 8) },
  };
}
