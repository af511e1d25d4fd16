// Measures the chosen works one after the other and tells each result as soon as it is there.

import { measure } from '../../../tests/bench/measure.js';
import { median } from '../../../tests/bench/statistics.js';
import type { MeasuredContender, Pace } from '../../../tests/bench/types.js';
import { pageHost } from './host.js';
import type { Work } from './works.js';

const setting = { engine: 'chromium', threads: 1 } as const; // the items' contenders for browsers

export interface Row {
  readonly work: Work;
  readonly name: string;
  readonly ours: boolean;
  readonly dtype: string;
  /** Median, in milliseconds; undefined with the reason if it could not be measured. */
  readonly milliseconds?: number;
  readonly unavailable?: string | undefined;
  /** Of the outputs and those in fp32. */
  readonly cosine?: number | undefined;
}

function rowOf(work: Work, { name, role, dtype, milliseconds, unavailable, cosine }: MeasuredContender): Row {
  const row = { work, name, dtype, cosine, unavailable, ours: role === 'ours' };
  return milliseconds.length > 0 ? { ...row, milliseconds: median(milliseconds) } : row;
}

/** Measures `works` in turns; `tell` is called with the rows of each. */
export async function measureWorks(
  works: readonly Work[],
  pace: Pace,
  tell: (rows: readonly Row[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const host = pageHost(signal);
  try {
    for (const work of works) {
      const sources = work.item.contenders(setting).map(({ make }) => JSON.stringify(make));
      const contenders = await measure(host, work.item, setting, sources, pace);
      signal.throwIfAborted();
      tell(contenders.map((contender) => rowOf(work, contender)));
    }
  } finally {
    await host.stop();
  }
}
