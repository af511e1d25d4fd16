// One wide matrix product against one per head: equal values, difference 0.

import { spoken } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import type { Data, FigureHeads } from './figure.js';
import { bands, pairCell } from './join_view.js';
import { hueOf } from './maps_view.js';
import { projections, type Split } from './projection.js';

interface CellEvent extends CustomEvent<{ row: number; column: number } | null> {}

export function splitView(figure: FigureHeads, { reading, split }: Data): TemplateResult {
  if (!split) return html``;
  const { labels } = figure.words;
  const { heads, width, input, weight, combined, joined } = split;
  const { from, shown, focus } = reading;
  const name = figure.projection.toUpperCase();
  const hue = figure.projection;
  const head = Math.min(heads - 1, figure.headOf(reading));
  const cell = pairCell(figure.width, Math.max(input.dims[1] ?? 1, heads * width));
  const [low, high] = [
    Math.max(2, Math.min(4, (figure.inClass ? figure.wall(200) : 200) / (input.dims[1] ?? 64))),
    figure.inClass ? figure.wall(12) : 11,
  ];
  const range = `${from}:${from + shown}`;
  const row = { rows: [focus - from] };
  const differs = (r: number, c: number): boolean => (split.difference.data[r * heads * width + c] ?? 0) !== 0;
  const choose = (event: CellEvent): void => {
    if (event.detail)
      figure.choose({ h: String(Math.floor(event.detail.column / width)), q: String(from + event.detail.row) });
  };
  return html`<div class="product">
    ${verdict(figure, split, reading.heads)}
    <div>
      ${bands(heads, cell * width)}
      <cf-matrix caption="above" label="W" about=${labels.wide} hue=${hue} source=${weight.name} .numbers=${weight.weight}
        .cellWidth=${cell} .cellHeight=${low} @cell-select=${(event: CellEvent) => event.detail && figure.choose({ h: String(Math.floor(event.detail.column / width)) })}></cf-matrix>
    </div>
    <cf-matrix label="X" about=${labels.input} hue="stream" source=${split.inputSource.replace(/\[0\]/, `[0, ${range}]`)} .numbers=${input} .cellWidth=${cell} .cellHeight=${high} .rails=${row}></cf-matrix>
    <cf-matrix label=${name} about=${labels.atOnce} hue=${hue} source="matmul(x, ${weight.name})" .numbers=${combined} .cellWidth=${cell} .cellHeight=${high} .rails=${row} @cell-select=${choose}></cf-matrix>
    <cf-matrix class=${hueOf(head)} label="${name}${head + 1}" about=${filled(labels.headAlone, { head: head + 1, n: width })} hue=${hue} source="matmul(x, ${weight.name}[:, ${head * width}:${(head + 1) * width}])"
      .numbers=${split.alone[head]} .cellWidth=${width > 16 ? cell : figure.narrow ? 0 : 34} .cellHeight=${high} .rails=${row}></cf-matrix>
    <cf-matrix label=${name} about=${filled(labels.oneByOne, { n: heads })} hue=${hue} source="matmul(x, ${weight.name}[:, h])" .numbers=${joined} .cellWidth=${cell} .cellHeight=${high} .rails=${row}
      .changed=${differs} @cell-select=${choose}></cf-matrix>
  </div>`;
}

function verdict(figure: FigureHeads, split: Split, all: number): TemplateResult {
  const { labels } = figure.words;
  return html`<div class="verdict-box">
    <div class="controls"><div class="seg" role="group" aria-label=${labels.matrixChoice}>${projections.map((one) => html`<button type="button" aria-pressed=${one === figure.projection} @click=${() => figure.choose({ w: one })}>${one.toUpperCase()}</button>`)}</div></div>
    <p class="caption">${labels.difference}</p>
    <p class="large-number">${figure.revealed ? spoken(split.largest) : '?'}</p>
    <p class="readout">${split.heads < all ? filled(labels.shared, { n: split.heads, all }) : ''}</p>
  </div>`;
}
