// Values for the chapter's prose.

import { decimals, short, two } from 'clearformer/elements';
import { at, byRoot, type Float, type HeadData, largestAt, rowOf } from './head_numbers.js';

export function headValues(data: HeadData, labels: Readonly<Record<string, string>>): Record<string, string> {
  const { before, now, divisor, queries, keys, focus, hooks, input } = data;
  const weights = rowOf(before.A, focus);
  const best = largestAt(weights);
  const most = largestAt(weights.map((share, key) => share * Math.hypot(...rowOf(before.V, key))));
  const other = largestAt(Array.from(weights, (share, key) => (key === best ? -1 : share)));
  const isSole = other === best || at(before.masked, focus, other) === Number.NEGATIVE_INFINITY;
  const target = targetOf(keys.length);
  const giver = giverOf(before.masked, focus, target);
  const share = at(now.A, giver, target);
  const d = now.Q.dims[1] ?? 1;
  return {
    layer: String((hooks?.layer ?? 0) + 1),
    head: String((hooks?.head ?? 0) + 1),
    heads: String(hooks?.heads ?? 1),
    kvHead: String((hooks?.kvHead ?? 0) + 1),
    width: String(input?.dims[1] ?? d),
    d: String(d),
    row: queries[focus] ?? '',
    best: keys[best] ?? '',
    most: keys[most] ?? '',
    weight: decimals(weights[best] ?? 0, 2),
    ...(isSole ? { isSole: '' } : { second: keys[other] ?? '', secondWeight: decimals(weights[other] ?? 0, 2) }),
    product: two(at(before.raw, focus, best)),
    [scalingOf(data)]: two(at(before.scaled, focus, best)),
    divisor: short(divisor),
    ...(hooks && hooks.kvHeads < hooks.heads && { sharedHeads: String(hooks.kvHeads) }),
    ...(hooks && hooks.q !== hooks.plain.Q && { isTurned: '' }),
    giver: queries[giver] ?? '',
    target: keys[target] ?? '',
    task: share > 0.5 ? `${labels.done} ${decimals(share, 2)}.` : `${labels.now} ${decimals(share, 2)}.`,
  };
}

/** The name of the value that a sentence about the scores has, by how they come from the products. */
function scalingOf(data: HeadData): string {
  if (byRoot(data)) return 'scaled';
  const { divisor } = data;
  if (Number.isNaN(divisor)) return 'compared';
  return Math.abs(divisor - 1) < 1e-3 ? 'undivided' : 'divided';
}

/** The key of the task "let it spend more than half its weight there": the first word of the text. */
export const targetOf = (keys: number): number => Math.min(1, keys - 1);

/** The query of that task: the one in focus, or, where that must not see the key, the first that may. */
export function giverOf(masked: Float, focus: number, target: number): number {
  const maySee = (query: number): boolean => at(masked, query, target) !== Number.NEGATIVE_INFINITY;
  const first = Array.from({ length: masked.dims[0] ?? 0 }, (_, query) => query).find(maySee);
  return maySee(focus) ? focus : (first ?? focus);
}
