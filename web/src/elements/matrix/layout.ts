// Layout of a matrix, in CSS pixels from its top left corner. Rows and columns are those drawn.

import type { Cell } from '../numbers.js';
import { type Caption, captionLineHeight, captionSizes, noCaption } from './caption_size.js';

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
  readonly caption: CaptionPlace;
  /** The caption, wrapped to a width in pixels. */
  readonly captionIn: (width: number) => Caption;
  /** The longest cell text: its characters, and its width in ems of the digits' font. */
  readonly longest: { readonly characters: number; readonly ems: number };
  /** Minimum font size in pixels; 0: default sizes. */
  readonly minFont: number;
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
  readonly caption: Caption;
  /** Baseline of the first line of the caption. */
  readonly captionY: number;
}

const widest = { width: 30, height: 25 };
const narrowest = 2;
/** Width of a bracket and its gap, on each side. */
const bracket = 8;
const bracketTop = 4;
const labelGap = 12;
const digitsFrom = 22;
/** Rotated labels have an angle of 55 degrees. */
const lean = { cos: 0.574, sin: 0.819 };
export const leanDegrees = 55;
/** More cells than this, or narrower ones, are painted on a canvas. */
const mostCells = 2048;
const paintedBelow = 8;

/** Margins of a cell around digits of the minimum font size, in ems. */
const besideDigits = 0.25;
const aboveDigits = 0.08;

/**
 * Font size of digits, found by trials with readers: 0.41 of the width, at most 13 px (14.5 in high cells, for a
 * projector).
 */
function usualDigits(cellWidth: number, cellHeight: number, characters: number): number {
  if (cellWidth < digitsFrom) return 0;
  const most = cellHeight >= 28 ? 14.5 : 13;
  const beside = characters > 4 ? 4 : 1; // long numbers fill their cells, and would touch
  const fitting = (cellWidth - beside) / (0.58 * Math.max(4, characters)); // 0.58 em is a tabular digit
  const size = Math.min(most, cellWidth * 0.41, cellHeight * 0.58, fitting);
  return size < 7 ? 0 : size;
}

/** With a minimum font size, digits have that size or are omitted. */
function digitsSize(cellWidth: number, cellHeight: number, { longest, minFont }: LayoutRequest): number {
  if (minFont === 0) return usualDigits(cellWidth, cellHeight, longest.characters);
  const fit = cellWidth >= (longest.ems + besideDigits) * minFont && cellHeight >= (1 + aboveDigits) * minFont;
  return fit ? minFont : 0;
}

/** The largest automatic cell size. */
function widestCell({ longest, minFont }: LayoutRequest): { width: number; height: number } {
  if (minFont === 0) return widest;
  const width = Math.max(widest.width, (longest.ems + besideDigits) * minFont + 2);
  return { width, height: Math.max(widest.height, minFont + 6) };
}

/** Whether adjacent labels would touch. */
const crowded = (labels: readonly number[], cellWidth: number): boolean =>
  labels.some((width, i) => width > 0 && (width + (labels[i + 1] ?? width)) / 2 + 3 > cellWidth);

export function layoutOf(request: LayoutRequest): Layout {
  const { rows, columns, rowLabels, columnLabels, caption } = request;
  const labelWidth = Math.max(0, ...rowLabels);
  const left = bracket + (labelWidth > 0 ? labelWidth + labelGap - 3 : 0);
  const room = request.hostWidth - left;
  const upright = (room - bracket) / Math.max(1, columns);
  // Rotated, the last label ends beside its cell's middle.
  const beside = (columnLabels.at(-1) ?? 0) * lean.cos;
  const fitting = crowded(columnLabels, upright) ? Math.min(upright, (room - beside) / (columns - 0.5)) : upright;
  const most = widestCell(request);
  const given = (pixels: number) => (pixels > 0 && pixels < Infinity ? pixels : 0);
  const cellWidth = given(request.cellWidth) || Math.max(narrowest, Math.min(most.width, fitting));
  const cellHeight = given(request.cellHeight) || Math.max(narrowest, (cellWidth * most.height) / most.width);
  // At large font sizes, labels over wide cells are truncated: rotated they would be higher than the matrix.
  const cutting = request.minFont > 0 && cellWidth >= 1.8 * request.minFont;
  const leaning = !cutting && crowded(columnLabels, cellWidth);
  const longestLabel = Math.max(0, ...columnLabels);
  const line = Math.max(14.5, request.minFont);
  const labelHeight = longestLabel === 0 ? 0 : leaning ? longestLabel * lean.sin + line + 1.5 : line + 5.5;
  const overhang = leaning ? beside - cellWidth / 2 : 0;
  const [width, height] = [columns * cellWidth, rows * cellHeight];
  const told = caption === 'none' ? noCaption : request.captionIn(Math.max(width + 10, room + 6));
  const captionHeight = captionLineHeight(request.minFont) * told.lines.length;
  const top = bracketTop + labelHeight + (caption === 'above' ? captionHeight : 0);
  const bottom = top + height + bracketTop + (caption === 'below' ? captionHeight - 4 : 0);
  const baseLine = captionSizes(request.minFont).name;
  return {
    rows,
    columns,
    cellWidth,
    cellHeight,
    left,
    top,
    width,
    height,
    fullWidth: Math.max(left + width + Math.max(bracket, overhang), left - 6 + told.width),
    fullHeight: bottom,
    digits: digitsSize(cellWidth, cellHeight, request),
    leaning,
    painted: rows * columns > mostCells || cellWidth < paintedBelow || cellHeight < paintedBelow,
    caption: told,
    captionY: caption === 'above' ? baseLine : top + height + baseLine + 3,
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
