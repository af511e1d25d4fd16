// Thresholds for fp16 and q8 compared with fp32.

import type { Measured } from './subject.js';

/** Smallest cosine to fp32's vectors, and fraction of positions with its top token. */
const bars = { fp16: { cosine: 0.9999, top: 0.995 }, q8: { cosine: 0.999, top: 0.995 } } as const;

/** The thresholds that a checkpoint misses, as sentences. */
export function missedBars(results: readonly Measured[]): string[] {
  return (['fp16', 'q8'] as const).flatMap((dtype) => {
    const found = results.find((result) => result.dtype === dtype);
    if (found === undefined) return [`${dtype} was not measured`];
    return (['cosine', 'top'] as const)
      .filter((measure) => !((found[measure] ?? 1) >= bars[dtype][measure]))
      .map((measure) => `${dtype}: ${measure} is ${found[measure]}, the bar ${bars[dtype][measure]}`);
  });
}
