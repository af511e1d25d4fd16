// The sizes of a matrix's caption, and what a wrapped one is.

/** One line; the first has the name, the last the shape. */
export interface CaptionLine {
  readonly name: string;
  readonly about: string;
  readonly shape: string;
}

export interface Caption {
  readonly lines: readonly CaptionLine[];
  /** Of the widest line, in CSS pixels. */
  readonly width: number;
  readonly lineHeight: number;
}

/** Font sizes; `power` is the superscript ⊤ of a transposed matrix. */
export const captionSizes = (minFont: number): { name: number; about: number; shape: number; power: number } => ({
  name: Math.max(18, minFont),
  about: Math.max(12.5, minFont),
  shape: Math.max(12, minFont),
  power: Math.max(11, 0.75 * minFont),
});

/** Height of a caption line, including the margin. */
export const captionLineHeight = (minFont: number): number => Math.max(27, 1.3 * minFont);

export const noCaption: Caption = { lines: [], width: 0, lineHeight: 27 };
