// The appearance of a cell: colour, digits, marks and accessible name.

import { cssColour, inkOn, paper, type Rgb, signed, type Theme, weight } from '../colours.js';
import { decimals, short, small2, spoken, weightDigits } from '../formats.js';
import type { Words } from '../words.js';

/** The colour map: signed around zero, weights from 0 to 1, or none. */
export type Scale = 'signed' | 'weights' | 'plain';
/** Decimals in a cell; `auto`: as many as fit. */
export type Digits = number | 'auto';
/** A predicate of a cell's row and column. */
export type CellTest = (row: number, column: number) => boolean;

export interface LookRequest {
  readonly scale: Scale;
  readonly bound: number;
  readonly digits: Digits;
  readonly theme: Theme;
}

/** Marks of a cell. */
export interface Marks {
  readonly masked: boolean;
  readonly secret: boolean;
  readonly changed: boolean;
  readonly edited: boolean;
}

export interface Look extends Marks {
  /** The colour of the cell; undefined if it is hatched or hidden. */
  readonly rgb: Rgb | undefined;
  readonly fill: string;
  readonly ink: string;
  readonly text: string;
}

/**
 * The text of a cell. Automatic digits: two decimals for values near one, otherwise two or three significant digits.
 */
export function cellText(
  value: number,
  { scale, digits, bound }: Pick<LookRequest, 'scale' | 'digits' | 'bound'>,
): string {
  if (scale === 'weights' && digits === 'auto') return weightDigits(value);
  if (digits !== 'auto') return decimals(value, digits);
  if (scale === 'plain' && Number.isInteger(value) && Math.abs(value) < 1000) return decimals(value, 0);
  return bound <= 2 ? small2(value) : short(value);
}

export function colourOf(value: number, { scale, bound, theme }: Pick<LookRequest, 'scale' | 'bound' | 'theme'>): Rgb {
  if (scale === 'weights') return weight(value / bound, theme);
  return scale === 'plain' ? paper[theme] : signed(value, bound, theme);
}

/** The part of the accessible name after the cell's position. */
export function saidOf(value: number, marks: Marks, words: Words): string {
  if (marks.secret) return words.hidden;
  const notes = [
    marks.masked ? words.masked : spoken(value),
    ...(marks.edited ? [words.edited] : []),
    ...(marks.changed ? [words.changed] : []),
  ];
  return notes.join(', ');
}

export function lookOf(value: number, marks: Marks, request: LookRequest): Look {
  if (marks.secret) return { ...marks, rgb: undefined, fill: 'var(--_sunken)', ink: 'var(--_muted)', text: '?' };
  if (marks.masked) return { ...marks, rgb: undefined, fill: 'url(#hatch)', ink: 'var(--_muted)', text: '' };
  const rgb = colourOf(value, request);
  return { ...marks, rgb, fill: cssColour(rgb), ink: cssColour(inkOn(rgb)), text: cellText(value, request) };
}
