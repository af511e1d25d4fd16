// The view that the parts of a matrix's picture draw: the cells as drawn (after transposition) and the texts around
// them.

import type { Form } from '../forms.js';
import type { Cell } from '../numbers.js';
import type { CaptionPlace } from './layout.js';
import type { Look } from './looks.js';

/** The role of a matrix, shown as the colour of its brackets. */
export type Hue = 'q' | 'k' | 'v' | 'stream' | 'ink' | 'accent';

export const hueForm: Form = new Set<Hue>(['q', 'k', 'v', 'stream', 'ink', 'accent']);

/** The CSS colour of a hue. */
export const hueColour = (hue: Hue): string => `var(--_${hue})`;

export interface MatrixView {
  readonly look: (row: number, column: number) => Look;
  /** A cell's position in words: "row ar, column p". */
  readonly placeName: (row: number, column: number) => string;
  /** The position with the number: "row ar, column p: 30.9". */
  readonly cellName: (row: number, column: number) => string;
  readonly rowLabels: readonly string[];
  readonly columnLabels: readonly string[];
  readonly boldRows: ReadonlySet<number>;
  readonly boldColumns: ReadonlySet<number>;
  readonly rowColour: string;
  readonly columnColour: string;
  readonly hue: string;
  readonly name: string;
  /** A raised ⊤ follows the name. */
  readonly transposed: boolean;
  readonly about: string;
  readonly shape: string;
  readonly caption: CaptionPlace;
  readonly serif: string;
  readonly sans: string;
  readonly mono: string;
  /** Minimum font size in CSS pixels; 0: default sizes. */
  readonly minFont: number;
}

/** Thin rails along rows and columns, in drawn positions. */
export interface Tracks {
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  readonly rowColour: string;
  readonly columnColour: string;
}

/** The frames over the cells. */
export interface Frames {
  readonly tracks: Tracks;
  readonly selected: Cell | undefined;
  /** Under the pointer. */
  readonly pointed: Cell | undefined;
  /** The focused cell; undefined if the focus is elsewhere. */
  readonly focused: Cell | undefined;
}
