// Finding heads: scores of four patterns as grids of layers and heads with a ranking, and the effect of ablating each.

import type { HeadKind } from 'clearformer';
import { two } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { largest } from '../../book/largest.js';
import { filled } from '../../book/markup.js';
import type { Data, FigureHeads } from './figure.js';
import { kinds } from './habits.js';
import { odds } from './maps_view.js';
import type { Reading } from './reading.js';

interface CellEvent extends CustomEvent<{ row: number; column: number } | null> {}
const listed = 6;

export function findView(figure: FigureHeads, { reading, habits }: Data): TemplateResult {
  if (!habits) return html``;
  const { labels } = figure.words;
  const kind = kindOf(figure);
  const { data } = habits.scores[kind];
  const best = largest(
    data.map((score) => (Number.isNaN(score) ? -1 : score)),
    listed,
  ).map((at) => placeOf(reading, at));
  const grid = (one: HeadKind): TemplateResult => html`<div>
    <p class="caption"><button type="button" class="name" aria-pressed=${one === kind} @click=${() => figure.choose({ kind: one })}>${labels[one]}</button></p>
    <cf-matrix scale="weights" label=${labels.score} about=${labels[`${one}_about`] ?? ''} source="detectHeads(model).scores.${one}" .numbers=${habits.scores[one]}
      .rowLabels=${rowNames(figure, reading)} .columnLabels=${columnNames(reading)} .cellWidth=${figure.narrow ? 0 : figure.inClass ? figure.wall(44) : 36} .cellHeight=${figure.inClass ? figure.wall(26) : 21}
      .selected=${one === kind ? best[0] && { row: best[0].layer, column: best[0].head } : undefined}
      @cell-select=${(event: CellEvent) => event.detail && figure.open(event.detail.row, event.detail.column)}></cf-matrix>
  </div>`;
  const items = best.map(({ layer, head, at }) => ({
    label: `${layer + 1}·${head + 1}`,
    value: data[at] ?? 0,
  }));
  const tokens = habits.inputs.input_ids;
  const length = Array.isArray(tokens) && Array.isArray(tokens[0]) ? tokens[0].length : 0;
  return html`<div class="with-odds">
    <div><div class="grids">${kinds.map(grid)}</div><p class="said">${filled(labels.howFound, { n: length })}</p></div>
    <div class="odds">
      <p class="caption">${labels[kind]} <span class="muted">(${labels.place})</span></p>
      <cf-bars format="number" max="1" source="detectHeads(model).heads" label=${labels[kind]} .items=${items}
        @bar-select=${(event: CustomEvent<{ index: number }>) => openAt(figure, best[event.detail.index])}></cf-bars>
      <p class="readout">${labels.opens}</p>
    </div>
  </div>`;
}

export function needView(figure: FigureHeads, { reading, need }: Data): TemplateResult {
  if (!need) return html``;
  const { labels } = figure.words;
  const { changes, baseline } = need.ablation;
  const worst = largest(
    changes.data.map((change) => -change),
    listed,
  ).map((at) => placeOf(reading, at));
  const items = worst.map(({ layer, head, at }) => ({
    label: `${layer + 1}·${head + 1}`,
    value: changes.data[at] ?? 0,
  }));
  return html`<div class="with-odds">
    <div>
      <p class="caption">${filled(labels.needs, { best: need.best.label, second: need.second.label, base: two(baseline) })}</p>
      <cf-matrix label="Δ" about=${labels.without} source="ablateHeads(model, inputs, { metric: logitDifference(${need.best.id}, ${need.second.id}), op: 'zero' }).changes" .numbers=${changes} .digits=${2}
        .rowLabels=${rowNames(figure, reading)} .columnLabels=${columnNames(reading)} .cellWidth=${figure.narrow ? 0 : figure.inClass ? figure.wall(80) : 62} .cellHeight=${figure.inClass ? figure.wall(40) : 38} .secret=${() => !figure.revealed}
        @cell-select=${(event: CellEvent) => event.detail && silence(figure, reading, event.detail.row, event.detail.column)}></cf-matrix>
      <p class="said">${labels.silenceHint}</p>
      ${
        figure.revealed
          ? html`<cf-bars format="number" source="ablateHeads(model, inputs, …).changes" label=${labels.without} .items=${items}
        @bar-select=${(event: CustomEvent<{ index: number }>) => openAt(figure, worst[event.detail.index])}></cf-bars>`
          : ''
      }
    </div>
    ${odds(figure, reading)}
  </div>`;
}

interface Place {
  readonly layer: number;
  readonly head: number;
  readonly at: number;
}

const placeOf = ({ heads }: Reading, at: number): Place => ({ layer: Math.floor(at / heads), head: at % heads, at });

function openAt(figure: FigureHeads, place: Place | undefined): void {
  if (place) figure.open(place.layer, place.head);
}

/** Shows a head and ablates it. */
function silence(figure: FigureHeads, { stack }: Reading, layer: number, head: number): void {
  const edit = stack === 'blocks' ? `L${layer}H${head}:0` : `${stack}.${layer}.attn.hook_z@h${head}:zero`;
  figure.choose({ l: String(layer), h: String(head), view: 'read', edit });
}

const kindOf = (figure: FigureHeads): HeadKind =>
  kinds.find((kind) => kind === figure.value('kind')) ?? 'previous_token';
const rowNames = (figure: FigureHeads, { layers }: Reading): string[] =>
  Array.from({ length: layers }, (_, layer) => filled(figure.words.labels.block, { layer: layer + 1 }));
const columnNames = ({ heads }: Reading): string[] => Array.from({ length: heads }, (_, head) => String(head + 1));
