// Layout of a matrix, in CSS pixels from its top left corner. Rows and columns are those drawn.

import type { Cell } from '../numbers.js';

/** The position of a matrix's name and shape. */
export type CaptionPlace = 'below' | 'above' | 'none';

export interface LayoutRequest {
  readonly rows: number;
  readonly columns: number;
  /** Width and height of a cell; 0: fits `hostWidth`. */
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly hostWidth: number;
  /** Widths of the labels in pixels; empty without labels. */
  readonly rowLabels: readonly number[];
  readonly columnLabels: readonly number[];
  /** The width of the caption in one line. */
  readonly captionWidth: number;
  readonly caption: CaptionPlace;
  /** Characters of the longest cell text. */
  readonly longest: number;
}

export interface Layout {
  readonly rows: number;
  readonly columns: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  /** The corner of the first cell. */
  readonly left: number;
  readonly top: number;
  /** Size of all cells together. */
  readonly width: number;
  readonly height: number;
  /** Size of the whole picture. */
  readonly fullWidth: number;
  readonly fullHeight: number;
  /** Font size of cell digits; 0 if there is no space for any. */
  readonly digits: number;
  /** Column labels are rotated if they are too wide. */
  readonly leaning: boolean;
  /** Whether cells are painted on a canvas. */
  readonly painted: boolean;
  /** Baseline of the caption. */
  readonly captionY: number;
}

const widest = { width: 30, height: 25 };
const narrowest = 2;
/** Width of a bracket and its gap, on each side. */
const bracket = 8;
const bracketTop = 4;
const labelGap = 12;
const captionHeight = 27;
const digitsFrom = 22;
/** Rotated labels have an angle of 55 degrees. */
const lean = { cos: 0.574, sin: 0.819 };
export const leanDegrees = 55;
/** More cells than this, or narrower ones, are painted on a canvas. */
const mostCells = 2048;
const paintedBelow = 8;

/**
 * Font size of digits, found by trials with readers: 0.41 of the width, at most 13 px (14.5 in high cells, for a
 * projector).
 */
function digitsSize(cellWidth: number, cellHeight: number, longest: number): number {
  if (cellWidth < digitsFrom) return 0;
  const most = cellHeight >= 28 ? 14.5 : 13;
  const fitting = (cellWidth - 1) / (0.58 * Math.max(4, longest)); // 0.58 em is a tabular digit
  const size = Math.min(most, cellWidth * 0.41, cellHeight * 0.58, fitting);
  return size < 7 ? 0 : size;
}

/** Whether adjacent labels would touch. */
const crowded = (labels: readonly number[], cellWidth: number): boolean =>
  labels.some((width, i) => width > 0 && (width + (labels[i + 1] ?? width)) / 2 + 3 > cellWidth);

export function layoutOf(request: LayoutRequest): Layout {
  const { rows, columns, rowLabels, columnLabels, caption } = request;
  const labelWidth = Math.max(0, ...rowLabels);
  const left = bracket + (labelWidth > 0 ? labelWidth + labelGap - 3 : 0);
  const fitting = (request.hostWidth - left - bracket) / Math.max(1, columns);
  const cellWidth = request.cellWidth || Math.max(narrowest, Math.min(widest.width, fitting));
  const cellHeight = request.cellHeight || Math.max(narrowest, (cellWidth * widest.height) / widest.width);
  const leaning = crowded(columnLabels, cellWidth);
  const longestLabel = Math.max(0, ...columnLabels);
  const labelHeight = longestLabel === 0 ? 0 : leaning ? longestLabel * lean.sin + 16 : 20;
  const overhang = leaning ? (columnLabels.at(-1) ?? 0) * lean.cos - cellWidth / 2 : 0;
  const [width, height] = [columns * cellWidth, rows * cellHeight];
  const top = bracketTop + labelHeight + (caption === 'above' ? captionHeight : 0);
  const bottom = top + height + bracketTop + (caption === 'below' ? captionHeight - 4 : 0);
  return {
    rows,
    columns,
    cellWidth,
    cellHeight,
    left,
    top,
    width,
    height,
    fullWidth: Math.max(left + width + Math.max(bracket, overhang), left - 6 + request.captionWidth),
    fullHeight: bottom,
    digits: digitsSize(cellWidth, cellHeight, request.longest),
    leaning,
    painted: rows * columns > mostCells || cellWidth < paintedBelow || cellHeight < paintedBelow,
    captionY: caption === 'above' ? captionHeight - 9 : top + height + 21,
  };
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The box of a range of cells, inclusive. */
export function boxOf(layout: Layout, from: Cell, to: Cell = from): Box {
  const { left, top, cellWidth, cellHeight } = layout;
  return {
    x: left + from.column * cellWidth,
    y: top + from.row * cellHeight,
    width: (to.column - from.column + 1) * cellWidth,
    height: (to.row - from.row + 1) * cellHeight,
  };
}

/** The cell at a point. */
export function cellAt(layout: Layout, x: number, y: number): Cell | undefined {
  const row = Math.floor((y - layout.top) / layout.cellHeight);
  const column = Math.floor((x - layout.left) / layout.cellWidth);
  const inside = row >= 0 && column >= 0 && row < layout.rows && column < layout.columns;
  return inside ? { row, column } : undefined;
}
