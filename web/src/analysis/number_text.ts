// Numbers as text that reads back as the same number, for float32 in as few digits as that takes.

import type { Tensor } from '../tensor/tensor.js';

/** How a format writes what has no digits. */
export interface NonFinite {
  nan: string;
  infinity: string;
  minusInfinity: string;
}

const smallestNormal = 2 ** -126; // of float32

/** The elements of a tensor as text: whole numbers with all their digits, float32 shortest, -0 as -0.0. */
export function numberTexts({ type, data }: Tensor, nonFinite: NonFinite): string[] {
  const text = type === 'float32' ? (value: number | bigint) => floatText(value as number, nonFinite) : String;
  return Array.from(data as ArrayLike<number | bigint>, (value) => text(value));
}

function floatText(value: number, nonFinite: NonFinite): string {
  if (Number.isNaN(value)) return nonFinite.nan;
  if (!Number.isFinite(value)) return value > 0 ? nonFinite.infinity : nonFinite.minusInfinity;
  return Object.is(value, -0) ? '-0.0' : shortest(value);
}

// A float32 is told from its neighbours by 9 digits; 6 digits survive the way there and back, so that fewer are found
// by dropping zeros, but not where subnormal numbers lie further apart. Above a power of two numbers lie twice as far
// apart as below it, so that the decimal nearest to it may not be its own while one further up is: the one nearest to
// the middle of what is its own up there.
function shortest(value: number): string {
  for (let digits = Math.abs(value) < smallestNormal ? 1 : 6; digits < 9; digits++) {
    for (const middle of [value, value * (1 + 2 ** -25)]) {
      const near = Number(middle.toPrecision(digits));
      if (Math.fround(near) === value) return String(near);
    }
  }
  return String(Number(value.toPrecision(9)));
}
