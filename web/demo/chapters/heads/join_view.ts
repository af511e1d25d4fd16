// The heads' concatenated outputs times W_O, row times column, and what each head contributes by itself.

import { four, spoken, two } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { textWidths } from '../../book/text_widths.js';
import { vars } from '../../book/vars.js';
import { within } from '../../book/within.js';
import type { Data, FigureHeads } from './figure.js';
import { boundOf, hueOf, odds } from './maps_view.js';
import type { Mixing } from './projection.js';
import type { Reading } from './reading.js';

interface CellEvent extends CustomEvent<{ row: number; column: number } | null> {}

/** A token's name beside a row: its font size, and the width for which there is room anyway. */
const nameSize = 13.5;
const usualName = 36;

/** The heads' labels above their columns. */
export function bands(heads: number, width: number): TemplateResult {
  return html`<div class="bands" aria-hidden="true">${Array.from({ length: heads }, (_, head) => html`<span class=${hueOf(head)} ${vars({ width: `${width}px` })}>${head + 1}</span>`)}</div>`;
}

/** The cell width for two matrices side by side, or one above the other; names and brackets stand beside them. */
export const pairCell = (width: number, columns: number): number =>
  Math.max(2, Math.min(12, (width >= 700 ? (width - 154) / 2 : width - 56) / columns));

export function joinView(figure: FigureHeads, { reading, mixing }: Data): TemplateResult {
  if (!mixing) return odds(figure, reading);
  const { labels } = figure.words;
  const { stack, layer, from, shown, focus, heads, width, model } = reading;
  const block = `${stack}.${layer}`;
  const range = `${from}:${from + shown}`;
  const row = focus - from;
  const column = within(figure.number('c'), model);
  const [low, high] = figure.inClass ? [3, figure.wall(12)] : [Math.max(2, Math.min(4, 256 / (heads * width))), 15];
  const names = reading.tokens.slice(from, from + shown).map(({ label }) => label);
  const longest = Math.max(...textWidths(names, figure.textSize(nameSize), 'serif'));
  const cell = pairCell(figure.width - Math.max(0, longest - usualName), Math.max(model, heads * width));
  const chosen = { row, column };
  return html`<div class="product">
      <div>
        <p class="caption">${filled(labels.adds, { token: reading.tokens[focus]?.label ?? '' })}</p>
        <cf-matrix label="z W" about=${labels.eachAdds} source="matmul(${block}.attn.hook_z[0, ${focus}, h], ${mixing.weight.name}[h])" .numbers=${mixing.adds}
          .cellWidth=${cell} .cellHeight=${high} .rails=${{ columns: [column] }} @cell-select=${(event: CellEvent) => event.detail && figure.choose({ c: String(event.detail.column) })}></cf-matrix>
        ${sums(figure, reading, mixing, column)}
      </div>
      <div class="side">
        <cf-matrix caption="above" label="W" about=${labels.mixes} source=${mixing.weight.name} .numbers=${mixing.weight.weight}
          .cellWidth=${cell} .cellHeight=${low} .rails=${{ columns: [column] }} @cell-select=${(event: CellEvent) => event.detail && figure.choose({ c: String(event.detail.column) })}></cf-matrix>
        <div class="tall" aria-hidden="true">${reading.taken.map((_, head) => html`<span class=${hueOf(head)} ${vars({ height: `${low * width}px` })}>${head + 1}</span>`)}</div>
      </div>
      <div>
        ${bands(heads, cell * width)}
        <cf-matrix label="Z" about=${labels.sideBySide} source="${block}.attn.hook_z[0, ${range}]" .numbers=${reading.joined} .bound=${boundOf(reading)}
          .cellWidth=${cell} .cellHeight=${high} .rails=${{ rows: [row] }} @cell-select=${(event: CellEvent) => event.detail && figure.choose({ q: String(from + event.detail.row) })}></cf-matrix>
      </div>
      <div class="side">
        <cf-matrix label="ZW" about=${labels.intoStream} hue="stream" source="${block}.hook_attn_out[0, ${range}]" .numbers=${reading.out}
          .cellWidth=${cell} .cellHeight=${high} .selected=${chosen} .rails=${{ rows: [row], columns: [column] }}
          @cell-select=${(event: CellEvent) => event.detail && figure.choose({ q: String(from + event.detail.row), c: String(event.detail.column) })}></cf-matrix>
        <div class="names" ${vars({ '--row': `${high}px` })}>${names.map((name, i) => html`<span class=${i === row ? 'here' : ''}>${name}</span>`)}</div>
      </div>
    </div>`;
}

/** The chosen element of the stream as the sum of the heads' contributions. */
function sums(
  figure: FigureHeads,
  { out, focus, from }: Reading,
  { adds, norms, bias, difference, sameSum, stream }: Mixing,
  column: number,
): TemplateResult {
  const { labels } = figure.words;
  const added = norms.map((_, head) => adds.slice(head, [column, column + 1]).item());
  const written = out.slice(focus - from, [column, column + 1]).item();
  const was = stream.slice([column, column + 1]).item();
  const own = bias.slice([column, column + 1]).item();
  return html`<p class="readout">${filled(labels.number, { n: column + 1 })}: ${added.map((value, head) => html`${head > 0 ? ' + ' : ''}<span class="${hueOf(head)} term">${two(value)}</span>`)}${own === 0 ? '' : ` + ${two(own)} (${labels.bias})`} ${sameSum ? '=' : '→'} <b>${four(written)}</b><br />
    ${filled(labels.ontoStream, { was: four(was), now: four(was + written) })} ${filled(labels.sumsAgree, { difference: spoken(difference) })}</p>`;
}
