// Formats numbers so that they parse to the same number, float32 with the fewest digits.

import { ClearformerError } from '../support/error.js';
import type { Tensor } from '../tensor/tensor.js';

/** How a format writes non-finite numbers. */
export interface NonFinite {
  nan: string;
  infinity: string;
  minusInfinity: string;
}

const smallestNormal = 2 ** -126; // of float32

/** The elements of a tensor as text: integers with all digits, float32 shortest, -0 as -0.0. */
export function numberTexts({ type, data }: Tensor, nonFinite: NonFinite): string[] {
  const text = type === 'float32' ? (value: number | bigint) => floatText(value as number, nonFinite) : String;
  return Array.from(data as ArrayLike<number | bigint>, (value) => text(value));
}

/** The text that `join` makes of a tensor's elements. Throws `out_of_memory` if the engine has no strings as long. */
export function joinedText(call: string, { size }: Tensor, join: () => string): string {
  try {
    return join();
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    const why = `${size} numbers are too long a text for this engine; toNpy and toSafetensors give bytes`;
    throw new ClearformerError('out_of_memory', `${call}: ${why}`, {}, thrown);
  }
}

function floatText(value: number, nonFinite: NonFinite): string {
  if (Number.isNaN(value)) return nonFinite.nan;
  if (!Number.isFinite(value)) return value > 0 ? nonFinite.infinity : nonFinite.minusInfinity;
  return Object.is(value, -0) ? '-0.0' : shortest(value);
}

// 9 digits identify a float32; 6 digits survive a round trip, so that shorter forms are found by dropping zeros, except
// where the spacing of subnormal numbers is wider. Above a power of two the spacing is twice that below it, so the
// decimal nearest to the power may not parse to it while one further up does: the one nearest to the middle of the
// interval that rounds to the power from above.
function shortest(value: number): string {
  for (let digits = Math.abs(value) < smallestNormal ? 1 : 6; digits < 9; digits++) {
    for (const middle of [value, value * (1 + 2 ** -25)]) {
      const near = Number(middle.toPrecision(digits));
      if (Math.fround(near) === value) return String(near);
    }
  }
  return String(Number(value.toPrecision(9)));
}
