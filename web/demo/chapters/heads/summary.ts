// Values for the chapter's prose.

import type { Tensor } from 'clearformer';
import { percent, spoken, two } from 'clearformer/elements';
import { largest } from '../../book/largest.js';
import { leaders } from '../../book/odds.js';
import type { Data } from './figure.js';
import { habitFrom } from './habits.js';

export function summary({ reading, split, mixing, every, habits, need }: Data): Record<string, string> {
  const { layer, layers, heads, width, model, odds, tokens, focus, off } = reading;
  const { before, now } = leaders(odds);
  const values: Record<string, string> = {
    ...{ layer: String(layer + 1), heads: String(heads), width: String(width), model: String(model) },
    token: tokens[focus]?.label ?? '',
  };
  values[heads * width === model ? 'sameWidth' : 'otherWidth'] = String(heads * width);
  const silent = off.flatMap((one, head) => (one ? [head + 1] : []));
  if (silent.length > 0) values.off = silent.join(', ');
  if (odds.some(({ before: was, now: is }) => was !== is)) values.isMoved = '';
  if (reading.patterns.some((pattern) => pattern.slice(focus - reading.from).data.some((x) => x > 0 && x < 1)))
    values.isMany = '';
  if (before && now) {
    Object.assign(values, { answer: before.piece.label, before: percent(before.before), now: percent(before.now) });
  }
  if (split) values.splitDifference = spoken(split.largest);
  if (mixing) {
    const [most = 0] = largest(mixing.norms, 1);
    Object.assign(values, {
      [mixing.sameSum ? 'mixDifference' : 'mixChanged']: spoken(mixing.difference),
      loudest: String(most + 1),
      loud: two(mixing.norms[most] ?? 0),
    });
  }
  if (every) values.everyHeads = String(layers * heads);
  if (every?.counts) {
    const { first, previous, self } = every.counts;
    Object.assign(values, { everyFirst: String(first), everyPrevious: String(previous), everySelf: String(self) });
  }
  if (habits) {
    const { layer: previousLayer, head: previousHead, score } = bestHead(habits.scores.previous_token);
    Object.assign(values, { previousLayer, previousHead, previousScore: two(score) });
    const induction = bestHead(habits.scores.induction);
    Object.assign(values, { inductionLayer: induction.layer, inductionHead: induction.head });
    // Of the two sentences about induction that with a value is shown.
    values[induction.score >= habitFrom ? 'inductionFound' : 'inductionMissed'] = two(induction.score);
  }
  if (need) {
    const { data, dims } = need.ablation.changes;
    const [at = 0] = largest(
      data.map((change) => -change),
      1,
    );
    const place = {
      needLayer: String(Math.floor(at / (dims[1] ?? 1)) + 1),
      needHead: String((at % (dims[1] ?? 1)) + 1),
    };
    Object.assign(values, place, { needChange: two(data[at] ?? 0), needBase: two(need.ablation.baseline) });
    Object.assign(values, { needBest: need.best.label, needSecond: need.second.label });
  }
  return values;
}

/** The head with the largest score, counted from 1. */
function bestHead({ data, dims }: Tensor<'float32'>): { layer: string; head: string; score: number } {
  const [at = 0] = largest(data, 1);
  const width = dims[1] ?? 1;
  return { layer: String(Math.floor(at / width) + 1), head: String((at % width) + 1), score: data[at] ?? 0 };
}
