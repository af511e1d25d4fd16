// Post-norm and pre-norm: one block with the same weights in both orders, and the stream's norm when it is repeated.

import { decimals, spoken } from 'clearformer/elements';
import { html, svg, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import type { Data, FigureBlock } from './figure.js';
import { type Order, repeats } from './order.js';
import { mostTokens } from './reading.js';
import { cellFor } from './tensor_view.js';

export function orderView(figure: FigureBlock, { order, reading }: Data): TemplateResult {
  if (!order) return html``;
  const { labels } = figure.words;
  const { subject, layer, agrees, post, pre, lengths } = order;
  const shown = Math.min(mostTokens, subject.tokens.length);
  const from = Math.max(0, Math.min(subject.focus - Math.ceil(mostTokens / 2), subject.tokens.length - shown));
  const names = subject.tokens.slice(from, from + shown).map(({ label }) => label);
  const part = [from, from + shown] as const;
  const cell = cellFor(figure, reading, subject.shape.model + 6, figure.narrow ? 1 : figure.inClass ? 0.38 : 0.46);
  const bound = Math.max(...[post, pre].flatMap(({ data }) => Array.from(data, Math.abs)));
  const one = (
    label: string,
    first: string,
    numbers: typeof post,
  ): TemplateResult => html`<cf-matrix label="x" about=${label} hue="stream"
      source="nn.TransformerEncoderLayer(${subject.shape.model}, …${first}).forward(encoder.${layer}.hook_resid_pre)[${from}:${from + shown}]" .numbers=${numbers.slice(part)} .bound=${bound}
      .rowLabels=${names} .cellWidth=${cell} .cellHeight=${13} .rails=${{ rows: [subject.focus - from] }}></cf-matrix>`;
  return html`<div class="side-by-side orders">
    <div>
      ${one(labels.postOrder, '', post)}
      ${one(labels.preOrder, ', norm_first: true', pre)}
      <p class="readout">${filled(labels.agrees, { layer: layer + 1, difference: spoken(agrees) })}</p>
    </div>
    <div>
      <p class="caption">${filled(labels.repeated, { n: repeats })}</p>
      ${figure.revealed ? chart(figure, order) : html`<p class="large-number">?</p>`}
      <cf-matrix label="|x|" about=${labels.lengthAfter} source="norm(block(block(…)))" .numbers=${{ dims: [2, repeats + 1], data: Float32Array.from([...lengths.post, ...lengths.pre]) }} .digits=${1} .secret=${(_: number, column: number) => !figure.revealed && column > 0}
        .rowLabels=${[labels.post_, labels.pre_]} .columnLabels=${lengths.post.map((_, i) => String(i))} .cellWidth=${figure.narrow ? 0 : figure.inClass ? figure.wall(60) : 36} .cellHeight=${figure.inClass ? figure.wall(28) : 22}></cf-matrix>
    </div>
  </div>`;
}

function chart(figure: FigureBlock, { lengths }: Order): TemplateResult {
  const { labels } = figure.words;
  const [room, height, left, bottom] = figure.inClass ? [figure.wall(560), figure.wall(190), 6, 10] : [360, 120, 6, 10];
  const width = figure.narrow ? Math.min(room, figure.width) : room;
  const names = figure.inClass ? figure.wall(220) : 90;
  const most = Math.max(...lengths.post, ...lengths.pre);
  const point = (value: number, i: number): string =>
    `${left + (i * (width - left - names)) / repeats} ${height - bottom - (value / most) * (height - 30)}`;
  const end = (values: readonly number[]): number =>
    height - bottom - ((values.at(-1) ?? 0) / most) * (height - 30) + 4;
  const line = (values: readonly number[], kind: string, name: string): TemplateResult =>
    svg`<path class="curve on ${kind}" d="M${values.map(point).join('L')}" /><text x=${width - names + 6} y=${end(values)}>${name} ${decimals(values.at(-1) ?? 0, 1)}</text>`;
  return html`<svg class="plot" width=${width} height=${height} aria-hidden="true">
    <path class="axis" d="M${left} ${height - bottom}H${width - names}" />
    ${line(lengths.post, 'post', labels.post_)}${line(lengths.pre, 'pre', labels.pre_)}
  </svg>`;
}
