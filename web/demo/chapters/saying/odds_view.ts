// Stream · W_U → logits → temperature → top-k → top-p: each stage a row over the whole vocabulary, and the most
// probable tokens as bars.

import { four, percent, spoken, two } from 'clearformer/elements';
import { html, svg, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { pieceOf } from '../../book/odds.js';
import { textWidths } from '../../book/text_widths.js';
import { vars } from '../../book/vars.js';
import { nearestOf } from '../../book/within.js';
import type { Data, FigureSaying } from './figure.js';
import type { Odds, Stage } from './odds.js';

/** The width of a figure that has its bars beside the rows; narrower ones have them below (saying_styles.ts). */
const besideFrom = 860;

export interface CellEvent extends CustomEvent<{ row: number; column: number } | null> {}
type Numbers = { dims: number[]; data: Float32Array };

/** A row over the vocabulary, permuted to the order of the columns. */
const picked = (row: { data: ArrayLike<number> }, ids: readonly number[]): Float32Array =>
  Float32Array.from(ids, (id) => row.data[id] ?? 0);

const row = (data: Float32Array): Numbers => ({ dims: [1, data.length], data });

/** Ids in the order of the columns: by logit, or by id. */
export function columnsOf(figure: FigureSaying, { ranked }: Odds): readonly number[] {
  return figure.value('sort') === 'id' ? [...ranked].sort((a, b) => a - b) : ranked;
}

/** The token of the chosen column: the nearest of the columns' to that of the address; by default the likeliest. */
export function columnOf(figure: FigureSaying, { ranked }: Odds): number {
  const [likeliest = 0] = ranked;
  const asked = figure.value('id') === '' ? Number.NaN : figure.number('id');
  return nearestOf(asked, ranked.includes(asked) ? [asked] : [...ranked].sort((a, b) => a - b), likeliest);
}

export function oddsView(figure: FigureSaying, data: Data): TemplateResult {
  const { odds, prompt } = data;
  const { labels } = figure.words;
  const ids = columnsOf(figure, odds);
  const chosen = columnOf(figure, odds);
  const column = ids.indexOf(chosen);
  const [beside, names] = figure.inClass ? [figure.wall(400), figure.wall(180)] : [320, 110];
  const side = figure.inClass || figure.width >= besideFrom ? beside : 0;
  const cell = Math.max(0.3, ((figure.width || 900) - side - names) / ids.length);
  const pick = ({ detail }: CellEvent): void => {
    if (detail) figure.choose({ id: String(ids[detail.column]) });
  };
  const orders = [
    ['rank', labels.byRank],
    ['id', labels.byId],
  ] as const;
  return html`<div class="with-side">
    <div class="strips">
      <div class="controls small">${orders.map(([value, text]) => html`<button type="button" class="chip" aria-pressed=${value === (figure.value('sort') || 'rank')} @click=${() => figure.choose({ sort: value })}>${text}</button>`)}
        ${figure.inClass ? '' : html`<span class="readout">${filled(labels.vocabulary, { n: odds.logits.size })}${odds.logits.size > ids.length ? ` ${filled(labels.cutVocabulary, { n: ids.length })}` : ''}</span>`}</div>
      ${projection(figure, odds, { ids, column, cell, pick })}
      <div class="stages">
        <cf-matrix caption="none" label="p" about=${labels.stages} scale="weights" source="softmax(generate({ output_scores }).scores[0])" .numbers=${stack(odds.stages, ids)} .cellWidth=${cell} .cellHeight=${figure.inClass ? figure.wall(24) : 17} .rails=${{ columns: [column] }}
          .secret=${(stage: number) => stage > 0 && !figure.revealed} @cell-select=${pick}></cf-matrix>
        <div class="stage-names" ${vars({ '--row': `${figure.inClass ? figure.wall(24) : 17}px` })}>${odds.stages.map(({ id }) => html`<span>${labels[`stage_${id}`]}</span>`)}</div>
      </div>
      ${chart(figure, data)}
    </div>
    <div class="side">
      <p class="caption">${filled(figure.shell.quoted, { text: pieceOf(prompt.shelved, chosen).label })}</p>
      ${readout(figure, data, chosen)}
      <p class="caption">${labels.writeOn}</p>
      ${bars(figure, data)}
    </div>
  </div>`;
}

function stack(stages: readonly Stage[], ids: readonly number[]): Numbers {
  const data = new Float32Array(stages.length * ids.length);
  stages.forEach(({ odds }, i) => {
    data.set(picked(odds, ids), i * ids.length);
  });
  return { dims: [stages.length, ids.length], data };
}

interface Columns {
  readonly ids: readonly number[];
  readonly column: number;
  readonly cell: number;
  pick(event: CellEvent): void;
}

/** The last row of the stream times a column of W_U per token. */
function projection(
  figure: FigureSaying,
  { unembedding, logits }: Odds,
  { ids, column, cell, pick }: Columns,
): TemplateResult {
  const { labels } = figure.words;
  const scores = html`<cf-matrix label="z" about=${labels.logits} source="logits[0, -1]" .numbers=${row(picked(logits, ids))} .cellWidth=${cell} .cellHeight=${figure.inClass ? figure.wall(18) : 18} .rails=${{ columns: [column] }} @cell-select=${pick}></cf-matrix>`;
  if (!unembedding) return scores;
  const { input, inputSource, weight, name } = unembedding;
  const [depth = 0, words = 0] = weight.dims;
  const turned = new Float32Array(depth * ids.length);
  for (let d = 0; d < depth; d++)
    ids.forEach((id, at) => {
      turned[d * ids.length + at] = weight.data[d * words + id] ?? 0;
    });
  const wide = Math.min(14, (cell * ids.length) / depth);
  return html`<cf-matrix label="x" about=${labels.stream} hue="stream" source=${inputSource} .numbers=${{ dims: [1, depth], data: input.data }} .cellWidth=${wide} .cellHeight=${16}></cf-matrix>
    <cf-matrix caption="none" label="W" about=${labels.table} source="${name}ᵀ" .numbers=${{ dims: [depth, ids.length], data: turned }} .cellWidth=${cell} .cellHeight=${Math.max(1, (figure.inClass ? figure.wall(92) : 92) / depth)} .rails=${{ columns: [column] }} @cell-select=${pick}></cf-matrix>
    ${scores}`;
}

function readout(figure: FigureSaying, { odds, settings }: Data, id: number): TemplateResult {
  const { labels } = figure.words;
  const { unembedding, logits, stages } = odds;
  const at = (values: { data: ArrayLike<number> } | undefined): number => values?.data[id] ?? Number.NaN;
  const shares = stages.map(({ odds: share }) => at(share));
  const [model = 0, warm = 0, cut = 0, left = 0] = shares;
  const gone = (share: number): string => (!figure.revealed ? '?' : share === 0 ? labels.cut : percent(share));
  return html`<table class="readout">
    ${unembedding ? html`<tr><td>x · w</td><td><b>${four(at(unembedding.product))}</b></td></tr>` : ''}
    <tr><td>${labels.logit}</td><td><b>${four(at(logits))}</b></td></tr>
    <tr><td>${labels.stage_model}</td><td><b>${percent(model)}</b></td></tr>
    <tr><td>÷ ${settings.temperature}</td><td>${two(at(stages[1]?.scores))} → <b>${gone(warm)}</b></td></tr>
    <tr><td>${labels.stage_top_k} ${settings.top_k || labels.all}</td><td><b>${gone(cut)}</b></td></tr>
    <tr><td>${labels.stage_top_p} ${settings.top_p === 1 ? labels.all : settings.top_p}</td><td><b>${gone(left)}</b></td></tr>
  </table>
  ${unembedding ? html`<p class="verdict">${filled(labels.agrees, { difference: spoken(unembedding.difference) })}</p>` : ''}`;
}

const listed = 8;

function bars(figure: FigureSaying, { odds, prompt }: Data): TemplateResult {
  const { labels } = figure.words;
  const [model, , , last] = odds.stages;
  const shown = odds.ranked.slice(0, figure.narrow || figure.inClass ? 4 : listed);
  const items = shown.map((id) => {
    const [was, now] = [model?.odds.data[id] ?? 0, last?.odds.data[id] ?? 0];
    const changed = !figure.inClass && Math.abs(now - was) > 1e-4; // in class mode there is room for bars only
    const note = now === 0 ? labels.cut : changed ? filled(labels.was, { share: percent(was) }) : undefined;
    return {
      label: pieceOf(prompt.shelved, id).label,
      value: figure.revealed ? now : was,
      note: figure.revealed ? note : undefined,
    };
  });
  return html`<cf-bars source="softmax(generate({ output_scores }).scores[0])" label=${labels.writeOn} max="1" .items=${items}
    @bar-select=${({ detail }: CustomEvent<{ index: number }>) => figure.writeOn(shown[detail.index] ?? 0)}></cf-bars>`;
}

/** How many of the names stand side by side in a row, each in a place of the same width; one at least. */
function countBeside(widths: readonly number[], width: number): number {
  const fit = (count: number): boolean => Math.max(...widths.slice(0, count)) + 6 <= width / count;
  return Math.max(1, widths.findLastIndex((_, last) => fit(last + 1)) + 1);
}

/** The most probable tokens: the model's probability as an outline, and that after the settings. */
function chart(figure: FigureSaying, { odds, prompt }: Data): TemplateResult {
  const { labels } = figure.words;
  const width = Math.max(
    280,
    (figure.width || 900) - (figure.inClass ? figure.wall(410) : figure.width >= besideFrom ? 345 : 0),
  );
  const most = odds.ranked.slice(0, figure.narrow ? 10 : figure.inClass ? 13 : 22);
  const names = most.map((id) => pieceOf(prompt.shelved, id).label);
  const count = countBeside(textWidths(names, figure.textSize(14.5)), width);
  const [height, base] = figure.inClass ? [figure.wall(170), figure.wall(134)] : [150, 122];
  const slot = width / count;
  const [model, , , last] = odds.stages;
  const ids = most.slice(0, count);
  const tall = (share: number): number => share * (base - figure.textSize(12.5) - 3.5);
  return html`<svg class="chart" width=${width} height=${height} role="img" aria-label=${labels.chartName}>
    <path class="axis" d="M0 ${base}H${width}" />
    ${ids.map((id, i) => {
      const [was, now] = [model?.odds.data[id] ?? 0, figure.revealed ? (last?.odds.data[id] ?? 0) : 0];
      const x = i * slot + slot * 0.18;
      const gone = figure.revealed && now === 0;
      return svg`<rect class="now" x=${x} y=${base - tall(now)} width=${slot * 0.64} height=${tall(now)} rx="1.5"/>
        <rect class="was" x=${x} y=${base - tall(was)} width=${slot * 0.64} height=${tall(was)} rx="1.5"/>
        <text class="serif ${gone ? 'gone' : ''}" x=${x + slot * 0.32} y=${base + figure.textSize(14.5) + 3.5} text-anchor="middle">${names[i]}</text>
        ${now >= 0.03 ? svg`<text x=${x + slot * 0.32} y=${base - tall(Math.max(now, was)) - 5} text-anchor="middle">${Math.round(now * 100)}</text>` : ''}`;
    })}
  </svg><p class="verdict">${labels.chartLegend}</p>`;
}
