// Converts the properties of a <cf-matrix> to a view: transposition, texts, and their sizes.

import type { Theme } from '../colours.js';
import type { Form } from '../forms.js';
import { type Cell, largest, type Numbers, shapeOf } from '../numbers.js';
import { textWidth } from '../svg.js';
import { words } from '../words.js';
import { captionOf } from './caption.js';
import { type CaptionPlace, type Layout, layoutOf } from './layout.js';
import { type CellTest, cellText, type Digits, type Look, lookOf, type Marks, type Scale, saidOf } from './looks.js';
import { labelSize, longestLabel } from './surround.js';
import { type Hue, hueColour, hueForm, type MatrixView, type Tracks } from './view.js';

/** Rows and columns with thin rails along them. If both are given, the rails end at the cell where they meet. */
export interface Rails {
  readonly rows?: readonly number[] | undefined;
  readonly columns?: readonly number[] | undefined;
  /** Default: the matrix's hue. */
  readonly rowHue?: Hue | undefined;
  readonly columnHue?: Hue | undefined;
}

export const railsForm: Form = {
  'rows?': ['number'],
  'columns?': ['number'],
  'rowHue?': hueForm,
  'columnHue?': hueForm,
};

/** Labels that are accessible but not drawn, because an adjacent matrix draws them: of rows or columns, or of both. */
export type Quiet = '' | 'rows' | 'columns' | 'both';

/** The properties of a matrix that affect its picture. */
export interface MatrixInput {
  readonly numbers: Numbers | undefined;
  readonly label: string;
  readonly about: string;
  readonly hue: Hue;
  readonly rowLabels: readonly string[];
  readonly columnLabels: readonly string[];
  readonly scale: Scale;
  readonly bound: number;
  readonly digits: Digits;
  readonly transposed: boolean;
  readonly caption: CaptionPlace;
  readonly quiet: Quiet;
  readonly masked: CellTest | undefined;
  readonly secret: CellTest | undefined;
  readonly changed: CellTest | undefined;
  readonly edited: CellTest | undefined;
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly rails: Rails | undefined;
  readonly theme: Theme;
  readonly minFontSize: number;
}

/** CSS font families. */
export interface Faces {
  readonly serif: string;
  readonly sans: string;
  readonly mono: string;
}

const never: CellTest = () => false;

/** Rows and columns as drawn. */
export function drawnShape({ numbers, transposed }: MatrixInput): readonly [rows: number, columns: number] {
  const [rows, columns] = numbers ? shapeOf(numbers) : [0, 0];
  return transposed ? [columns, rows] : [rows, columns];
}

const boundOf = ({ bound, scale }: MatrixInput, numbers: Numbers): number =>
  bound > 0 ? bound : scale === 'weights' ? 1 : largest(numbers.data);

export function viewOf(matrix: MatrixInput, numbers: Numbers, faces: Faces): MatrixView {
  const { rowLabels, columnLabels, transposed } = matrix;
  const said = words();
  const [rows, columns] = drawnShape(matrix);
  const [, width] = shapeOf(numbers);
  const { scale, digits, theme } = matrix;
  const request = { scale, bound: boundOf(matrix, numbers), digits, theme };
  const { masked = never, secret = never, changed = never, edited = never } = matrix;
  const given = (r: number, c: number): Cell => (transposed ? { row: c, column: r } : { row: r, column: c });
  const valueAt = ({ row, column }: Cell): number => Number(numbers.data[row * width + column]);
  const marksAt = ({ row, column }: Cell): Marks => ({
    masked: masked(row, column),
    secret: secret(row, column),
    changed: changed(row, column),
    edited: edited(row, column),
  });
  const look = (r: number, c: number): Look => lookOf(valueAt(given(r, c)), marksAt(given(r, c)), request);
  const placeName = (r: number, c: number): string => {
    const { row, column } = given(r, c);
    return `${said.row} ${rowLabels[row] || row + 1}, ${said.column} ${columnLabels[column] || column + 1}`;
  };
  const cellName = (r: number, c: number): string =>
    `${placeName(r, c)}: ${saidOf(valueAt(given(r, c)), marksAt(given(r, c)), said)}`;
  const silent = (side: Quiet): boolean => matrix.quiet === side || matrix.quiet === 'both';
  const beside = silent('rows') ? [] : rowLabels;
  const above = silent('columns') ? [] : columnLabels;
  const [drawnRows, drawnColumns] = transposed ? [above, beside] : [beside, above];
  const tracks = tracksOf(matrix);
  const raised = !transposed && matrix.label.endsWith('⊤');
  return {
    look,
    placeName,
    cellName,
    rowLabels: drawnRows.slice(0, rows),
    columnLabels: drawnColumns.slice(0, columns),
    boldRows: new Set(tracks.rows),
    boldColumns: new Set(tracks.columns),
    rowColour: tracks.rowColour,
    columnColour: tracks.columnColour,
    hue: hueColour(matrix.hue),
    name: raised ? matrix.label.slice(0, -1) : matrix.label,
    transposed: transposed || raised,
    about: matrix.about,
    shape: `${rows}×${columns}`,
    caption: matrix.caption,
    ...faces,
    minFont: matrix.minFontSize,
  };
}

export function tracksOf({ rails, hue, transposed }: MatrixInput): Tracks {
  const { rows = [], columns = [], rowHue = hue, columnHue = hue } = rails ?? {};
  const [rowColour, columnColour] = [hueColour(rowHue), hueColour(columnHue)];
  if (!transposed) return { rows, columns, rowColour, columnColour };
  return { rows: columns, columns: rows, rowColour: columnColour, columnColour: rowColour };
}

/** Number of cells inspected for the longest text: more would take as long as drawing them. */
const sample = 512;

function longestText(matrix: MatrixInput, { data }: Numbers, sans: string): { characters: number; ems: number } {
  const { scale, digits, minFontSize } = matrix;
  const bound = boundOf(matrix, { data, dims: [] });
  const step = Math.max(1, Math.floor(data.length / sample));
  let [characters, ems] = [0, 0];
  for (let i = 0; i < data.length; i += step) {
    const text = cellText(Number(data[i]), { scale, digits, bound });
    characters = Math.max(characters, text.length);
    if (minFontSize > 0) ems = Math.max(ems, textWidth(text, `100px ${sans}`) / 100);
  }
  return { characters, ems };
}

export function layoutFor(matrix: MatrixInput, numbers: Numbers, view: MatrixView, hostWidth: number): Layout {
  const [rows, columns] = drawnShape(matrix);
  const { minFont } = view;
  const font = `${labelSize(minFont)}px ${view.serif}`;
  const widths = (labels: readonly string[]): number[] =>
    labels.map((label) => (label === '' ? 0 : Math.min(longestLabel(minFont), textWidth(label, font))));
  const { cellWidth, cellHeight, caption } = matrix;
  return layoutOf({
    rows,
    columns,
    cellWidth,
    cellHeight,
    hostWidth,
    rowLabels: widths(view.rowLabels),
    columnLabels: widths(view.columnLabels),
    caption,
    captionIn: (room) => captionOf(view, room),
    longest: longestText(matrix, numbers, view.sans),
    minFont,
  });
}
