// Views of the models' position embeddings and of position biases.

import type { Cell } from 'clearformer/elements';
import { four, spoken } from 'clearformer/elements';
import { html, nothing, type TemplateResult } from 'lit';
import { onWall } from '../../book/class_mode.js';
import { filled } from '../../book/markup.js';
import { reshaped } from '../../book/tensors.js';
import { type Biases, biasTokens } from './biases.js';
import type { WhereFigure } from './figure.js';
import { type Learned, tableModels } from './learned.js';

export function learnedView(figure: WhereFigure, all: Learned): TemplateResult {
  const { labels } = figure.words;
  const { model, table, similarity, difference } = all;
  const [count = 0, d = 0] = table.numbers.dims;
  const { room } = figure;
  const small = room < 500;
  const sizes = figure.inClass ? wallSizes(count, d) : undefined;
  const side = sizes?.side ?? Math.max(2, Math.min(22, Math.floor((small ? 150 : Math.min(room / 2, 400)) / count)));
  const wide = sizes?.wide ?? Math.max(2, Math.min(12, Math.floor((room - 20) / d)));
  const high = sizes?.high ?? Math.max(2, Math.min(10, Math.floor((small ? 100 : 220) / count)));
  const pointed = pointedIn(figure, all);
  return html`<div class="controls">
      <span class="seg" role="group" aria-label=${labels.whose}>${tableModels.map((name) => html`<button type="button" aria-pressed=${name === model} @click=${() => figure.choose({ table: name })}>${name}</button>`)}</span>
    </div>
    <p class="verdict">${filled((difference === undefined ? labels.learnedTable : labels.fixedTable) ?? '', { model, count, d })}${difference === undefined ? nothing : html` <b>${filled(labels.sameAsFunction ?? '', { difference: four(difference) })}</b>`}</p>
    <div class="tables"><cf-matrix .numbers=${table.numbers} source=${table.source} label="P" about=${labels.rowForPlace} hue="stream" .cellWidth=${wide} .cellHeight=${high} .rails=${{ rows: [pointed.row] }}></cf-matrix>
    <div class="similar">
      <cf-matrix .numbers=${similarity.numbers} source=${similarity.source} label=${labels.cosine} hue="ink" bound="1" .cellWidth=${side} .cellHeight=${side} .rails=${{ rows: [pointed.row] }} .selected=${pointed} @cell-point=${figure.point} @cell-select=${figure.chooseCell}></cf-matrix>
      <div>${inPicture(figure, all, pointed.row)}
        <p class="verdict">${filled(labels.similarAre ?? '', { ...pointed })} <b>${four(Number(similarity.numbers.slice(pointed.row, pointed.column).item()))}</b></p>
        <p class="verdict">${labels.pointAt}</p></div>
    </div></div>`;
}

/** In class mode the table and the similarity of its rows stand side by side, at equal height. */
function wallSizes(count: number, d: number): { side: number; wide: number; high: number } {
  const side = Math.max(2, Math.min(onWall(34), Math.floor(onWall(400) / count)));
  return { side, wide: Math.max(2, Math.min(12, Math.floor(onWall(480) / d))), high: side };
}

/** The cell under the pointer, or that of the address; by default a patch and the one below it, or two neighbours. */
function pointedIn(figure: WhereFigure, { model, similarity }: Learned): Cell {
  const [count = 0] = similarity.numbers.dims;
  const [row = Number.NaN, column = Number.NaN] = figure.value('at').split('.').map(Number);
  const known = [row, column].every((at) => Number.isInteger(at) && at >= 0);
  const cell = figure.pointed ?? (known ? { row, column } : undefined);
  if (cell && cell.row < count && cell.column < count) return cell;
  return model === 'vit-mnist' ? { row: 10, column: 17 } : { row: 3, column: 4 };
}

/** The similarity of one row of the digit model to those of all patches, as a grid like the picture. */
function inPicture(figure: WhereFigure, { model, similarity }: Learned, row: number): TemplateResult | typeof nothing {
  if (model !== 'vit-mnist') return nothing;
  const { numbers, source } = similarity;
  const [count = 0] = numbers.dims;
  const side = Math.sqrt(count - 1);
  const patches = reshaped(numbers.slice(row, [1, count]), [side, side]);
  const cell = figure.room < 500 ? 16 : figure.inClass ? figure.wall(36) : 30;
  return html`<cf-matrix .numbers=${patches} source="(${source})[${row}, 1:] as ${side} × ${side}" about=${filled(figure.words.labels.asPicture ?? '', { row })} hue="ink" bound="1" .cellWidth=${cell} .cellHeight=${cell}></cf-matrix>`;
}

export function biasView(
  figure: WhereFigure,
  { head, heads, slopes, alibi, buckets }: Biases,
  tokens: readonly string[],
  of: number,
): TemplateResult {
  const { labels } = figure.words;
  const later = (row: number, column: number): boolean => column > row;
  const shared = { rowLabels: tokens, columnLabels: tokens };
  const width = figure.cell(tokens.length);
  const high = Math.min(figure.inClass ? figure.wall(32) : 25, width);
  const slope = Number(slopes.numbers.slice(head).item());
  return html`<div class="controls">${figure.choice(labels.head ?? '', 'bh', head, heads)}</div>
    <div class="biases"><div><p class="verdict"><b>${labels.alibi}</b> ${filled(labels.slope ?? '', { slope: spoken(slope) })}</p>
    <cf-matrix .numbers=${alibi.numbers} source=${alibi.source} label=${labels.biasName} about=${labels.added} hue="ink" digits="2" .rowLabels=${shared.rowLabels} .columnLabels=${shared.columnLabels} .masked=${later} .cellWidth=${width} .cellHeight=${high}></cf-matrix>
    </div><div><p class="verdict"><b>${labels.buckets}</b> ${labels.bucketsAre}</p>
    <cf-matrix .numbers=${buckets.numbers} source=${buckets.source} label=${labels.bucket} about=${labels.whichNumber} hue="ink" scale="plain" digits="0" .rowLabels=${shared.rowLabels} .columnLabels=${shared.columnLabels} .masked=${later} .cellWidth=${width} .cellHeight=${high}></cf-matrix></div></div>
    ${of > tokens.length ? html`<p class="verdict">${filled(labels.window ?? '', { n: biasTokens, of })}</p>` : nothing}`;
}
