// The tensor of the part chosen in the diagram, one row per token.

import { four, two } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { within } from '../../book/within.js';
import { nameOf } from './diagram.js';
import type { FigureBlock } from './figure.js';
import { lengthOf, type Reading, rowsOf } from './reading.js';

export interface CellEvent extends CustomEvent<{ row: number; column: number } | null> {}

/** Labels of the tokens shown. */
export const rowNames = ({ tokens, from, shown }: Reading): string[] =>
  tokens.slice(from, from + shown).map(({ label }) => label);

/** The cell width that fits this many columns. */
export const cellFor = (figure: FigureBlock, reading: Reading, columns: number, share = 1): number => {
  const room = figure.narrow ? roomFor(figure, reading) : roomFor(figure, reading) * share;
  return Math.max(2, Math.min(14, room / columns));
};

/** The width for matrices to the right of the tokens' names, in CSS pixels. */
export const roomFor = (figure: FigureBlock, reading: Reading): number => {
  const [odds, names] = figure.inClass ? [figure.wall(470), figure.wall(120)] : [290, 70];
  const beside = (figure.inClass || figure.width >= 1000) && figure.withOdds(reading) ? odds : 0;
  return figure.width - (figure.narrow ? 0 : beside) - names;
};

/** Which tokens are shown, unless all are. */
export const windowNote = (figure: FigureBlock, { from, shown, tokens }: Reading): string =>
  shown < tokens.length
    ? filled(figure.words.labels.window, { from: from + 1, to: from + shown, of: tokens.length })
    : '';

export function tensorView(figure: FigureBlock, reading: Reading): TemplateResult {
  const { labels } = figure.words;
  const part = figure.chosenPart(reading);
  const { stack, layer, from, shown, focus, shape, tokens } = reading;
  const hook = `${stack}.${layer}.${part.id}`;
  const rows = rowsOf(reading, hook);
  const row = rows.slice(focus - from);
  const column = within(figure.number('c'), shape.model);
  return html`<p class="caption">${nameOf(figure, reading, part)} <span class="muted">${windowNote(figure, reading)}</span></p>
    <cf-matrix label=${part.kind === 'stream' ? 'x' : part.kind === 'norm' ? 'x̂' : 'Δx'} about=${hook} hue="stream" source="${hook}[0, ${from}:${from + shown}]" .numbers=${rows}
      .rowLabels=${rowNames(reading)} .cellWidth=${cellFor(figure, reading, shape.model)} .cellHeight=${figure.inClass ? figure.wall(26) : 17} .selected=${{ row: focus - from, column }} .rails=${{ rows: [focus - from] }}
      @cell-select=${(event: CellEvent) => event.detail && figure.choose({ q: String(from + event.detail.row), c: String(event.detail.column) })}></cf-matrix>
    <p class="readout">${filled(labels.tensorRead, { token: tokens[focus]?.label ?? '', n: column + 1, value: four(row.data[column] ?? 0), length: two(lengthOf(row.data)), width: shape.model })}</p>`;
}
