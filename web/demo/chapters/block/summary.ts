// Values for the prose of chapter 7.

import { decimals, percent, spoken, two } from 'clearformer/elements';
import { firstModel } from '../../book/book.js';
import { grouped } from '../../book/grouped.js';
import { leaders } from '../../book/odds.js';
import { activation } from '../../book/shelf.js';
import type { Data } from './figure.js';
import { curveNames, gateNames } from './neurons.js';
import { lengthOf, takesOut } from './reading.js';

export function summary({ reading, neurons, order, weights }: Data): Record<string, string> {
  const { shape, layer, tokens, focus, depths, now, odds, stack } = reading;
  const lengthAt = (hook: string | undefined): string =>
    hook === undefined ? '' : two(lengthOf(activation(now, hook).slice(0, focus).data));
  const { before } = leaders(odds);
  const values: Record<string, string> = {
    ...{ layer: String(layer + 1), model: String(shape.model), hidden: String(shape.hidden) },
    ...{ token: tokens[focus]?.label ?? '', first: lengthAt(depths[0]?.hook), last: lengthAt(depths.at(-1)?.hook) },
    ...{ answer: before?.piece.label ?? '', before: percent(before?.before ?? 0), now: percent(before?.now ?? 0) },
  };
  const out = Array.from({ length: shape.layers }, (_, at) => at).filter((at) =>
    reading.specs.some((spec) => takesOut(spec, `${stack}.${at}.hook_attn_out`)),
  );
  if (out.length > 0) values.out = out.map((at) => at + 1).join(', ');
  const written = activation(now, `${stack}.${layer}.hook_attn_out`).slice(0, focus).data;
  values.read = two(lengthOf(written));
  if (neurons) {
    const on = neurons.pre.data.filter((x) => x > 0).length;
    Object.assign(values, { on: String(on), neurons: String(neurons.pre.size), curve: curveNames[neurons.curve] });
    if (neurons.linear) Object.assign(values, { gated: curveNames[neurons.own], gate: gateNames[neurons.own] });
  }
  if (order) {
    const { post, pre } = order.lengths;
    Object.assign(values, {
      agrees: spoken(order.agrees),
      postFirst: decimals(post[1] ?? 0, 1),
      postLast: decimals(post.at(-1) ?? 0, 1),
    });
    Object.assign(values, { preFirst: decimals(pre[1] ?? 0, 1), preLast: decimals(pre.at(-1) ?? 0, 1) });
  }
  if (weights) {
    const { block, total, parts, tied } = weights;
    const largest = parts.reduce((most, part) => (part.count > most.count ? part : most), { name: '', count: 0 });
    Object.assign(values, {
      blockCount: grouped(block),
      total: grouped(total),
      mostShare: percent(largest.count / total),
    });
    Object.assign(values, { [`mostIn_${'kind' in largest ? largest.kind : 'other'}`]: '' });
    if (tied) values.isTied = '';
    if (reading.name === firstModel) values.isNamed = '';
  }
  return values;
}
