// What the parts of a matrix's picture are handed: the cells as they are drawn (after transposing) and the texts around them.

import type { Cell } from '../numbers.js';
import type { CaptionPlace } from './layout.js';
import type { Look } from './looks.js';

/** Who a matrix belongs to, as the colour of its brackets says. */
export type Hue = 'q' | 'k' | 'v' | 'stream' | 'ink' | 'accent';

/** CSS of a hue's colour; unknown ones are ink. */
export function hueColour(hue: Hue): string {
  const known: readonly string[] = ['q', 'k', 'v', 'stream', 'ink', 'accent'];
  return `var(--_${known.includes(hue) ? hue : 'ink'})`;
}

export interface MatrixView {
  readonly look: (row: number, column: number) => Look;
  /** A cell's place in words: "row ar, column p". */
  readonly placeName: (row: number, column: number) => string;
  /** The place with the number: "row ar, column p: 30.9". */
  readonly cellName: (row: number, column: number) => string;
  readonly rowLabels: readonly string[];
  readonly columnLabels: readonly string[];
  readonly boldRows: ReadonlySet<number>;
  readonly boldColumns: ReadonlySet<number>;
  readonly rowColour: string;
  readonly columnColour: string;
  readonly hue: string;
  readonly name: string;
  readonly transposed: boolean;
  readonly about: string;
  readonly shape: string;
  readonly caption: CaptionPlace;
  readonly serif: string;
}

/** Thin rails along rows and columns, in drawn places. */
export interface Tracks {
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  readonly rowColour: string;
  readonly columnColour: string;
}

/** The frames that stand over the cells. */
export interface Frames {
  readonly tracks: Tracks;
  readonly selected: Cell | undefined;
  /** Under the pointer. */
  readonly pointed: Cell | undefined;
  /** Where the keyboard is; undefined while it is elsewhere. */
  readonly focused: Cell | undefined;
}
