// Thresholds for fp16, q8 and the formats of the key/value cache compared with fp32.

import type { SettingName } from './settings.js';
import type { Measured } from './subject.js';

/**
 * Smallest cosine to fp32's vectors, and fraction of positions with its top token. Heads of eight numbers (stories260K)
 * lose most in caches of eight bits.
 */
const bars: Partial<Record<SettingName, { cosine: number; top: number }>> = {
  fp16: { cosine: 0.9999, top: 0.995 },
  q8: { cosine: 0.999, top: 0.995 },
  'cache fp16': { cosine: 0.9999, top: 0.999 },
  'cache q8': { cosine: 0.999, top: 0.97 },
};

/** The thresholds that a checkpoint misses, as sentences; fp16 and q8 must be among the results. */
export function missedBars(results: readonly Measured[]): string[] {
  const absent = (['fp16', 'q8'] as const).filter((name) => results.every(({ dtype }) => dtype !== name));
  const missed = results.flatMap((result) => {
    const bar = result.dtype === 'fp32' ? undefined : bars[result.dtype];
    if (bar === undefined) return [];
    return (['cosine', 'top'] as const)
      .filter((measure) => !((result[measure] ?? 1) >= bar[measure]))
      .map((measure) => `${result.dtype}: ${measure} is ${result[measure]}, the bar ${bar[measure]}`);
  });
  return [...absent.map((dtype) => `${dtype} was not measured`), ...missed];
}
