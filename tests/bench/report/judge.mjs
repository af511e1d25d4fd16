// Measurements against bars.
import { keyOf } from '../results.mjs';
import { median, ratios } from '../statistics.mjs';

const matches = (contender, { role, variant, dtype, peer, captured }) =>
  contender.role === role &&
  contender.captured === captured &&
  (variant === undefined || contender.variant === variant) &&
  (peer === undefined || contender.peer === peer) &&
  dtype.includes(contender.dtype);

/** The fastest contender that a bar's side picks, with its run; `missing` says why there is none. */
export function picked(results, { item, engine, threads, pick }) {
  const run = results.measured[keyOf(item, { engine, threads })];
  if (run === undefined) return { missing: 'not measured' };
  const all = run.contenders.filter((contender) => matches(contender, pick));
  const timed = all.filter(({ milliseconds }) => milliseconds.length > 0);
  if (timed.length === 0) return { missing: all[0]?.unavailable ? 'not available' : 'not measured', run };
  const [fastest] = timed.sort((a, b) => median(a.milliseconds) - median(b.milliseconds));
  return { run, contender: fastest, time: median(fastest.milliseconds) };
}

/** { bar, of, against, ratio?, met?, missing? }; rounds are compared one by one where both sides are of one run. */
export function judge(results, bar) {
  const of = picked(results, bar.of);
  const against = picked(results, bar.against);
  const missing = of.missing ?? against.missing;
  if (missing) return { bar, of, against, missing };
  const sameRun = of.run === against.run;
  const ratio = sameRun
    ? ratios(against.contender.milliseconds, of.contender.milliseconds)
    : { median: against.time / of.time };
  return { bar, of, against, ratio, met: ratio.median >= bar.least };
}
