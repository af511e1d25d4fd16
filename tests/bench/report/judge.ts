// Compares measurements with targets.

import { keyOf } from '../results.js';
import { median, type Ratio, speedUp } from '../statistics.js';
import type { Identity, MeasuredContender, Results, Run } from '../types.js';
import type { Bar, Pick, Side } from './bars.js';

const matches = (contender: Identity, { role, variant, dtype, peer, captured, threads }: Pick): boolean =>
  contender.role === role &&
  contender.captured === captured &&
  contender.threads === threads &&
  (variant === undefined || contender.variant === variant) &&
  (peer === undefined || contender.peer === peer) &&
  dtype.includes(contender.dtype);

/** The measurement of a target's side; `missing` says why there is none. */
export interface Picked {
  run?: Run | undefined;
  contender?: MeasuredContender;
  time?: number;
  missing?: string;
}

/** The fastest contender selected by a target's side. */
export function picked(results: Results, { item, engine, threads, pick }: Side): Picked {
  const run = results.measured[keyOf(item, { engine, threads })];
  if (run === undefined) return { missing: 'not measured' };
  const all = run.contenders.filter((contender) => matches(contender, pick));
  const timed = all.filter(({ milliseconds }) => milliseconds.length > 0);
  const [fastest] = timed.sort((a, b) => median(a.milliseconds) - median(b.milliseconds));
  if (!fastest) return { missing: all[0]?.unavailable ? 'not available' : 'not measured', run };
  return { run, contender: fastest, time: median(fastest.milliseconds) };
}

export interface Judged {
  bar: Bar;
  of: Picked;
  against: Picked;
  ratio?: Ratio;
  met?: boolean;
  missing?: string | undefined;
}

/** Rounds are compared one by one if both sides are in the same run; runs of different days are not compared. */
export function judge(results: Results, bar: Bar): Judged {
  const of = picked(results, bar.of);
  const against = picked(results, bar.against);
  const missing = of.missing ?? against.missing;
  if (!of.contender || !against.contender) return { bar, of, against, missing };
  const sameRun = of.run === against.run;
  if (of.run?.date !== against.run?.date) return { bar, of, against, missing: 'not measured on one day' };
  const ratio: Ratio = sameRun
    ? speedUp(of.contender, against.contender)
    : { median: median(against.contender.milliseconds) / median(of.contender.milliseconds) };
  const vnni = results.machine.features?.includes('AVX-VNNI') ?? true;
  const least = vnni ? bar.least : (bar.leastWithoutVnni ?? bar.least);
  return { bar, of, against, ratio, met: ratio.median >= least };
}
