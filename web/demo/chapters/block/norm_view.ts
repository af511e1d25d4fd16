// Rows before and after a norm, which brings all to the same scale.

import { four, two } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import type { FigureBlock } from './figure.js';
import { lengthOf, type Reading, rowsOf } from './reading.js';
import { type CellEvent, cellFor, roomFor, rowNames } from './tensor_view.js';

/** The chosen norm, and the stream that it reads. */
function chosenNorm(figure: FigureBlock, { plan }: Reading): { norm: string; before: string } {
  const { parts } = plan;
  const asked = parts.findIndex(({ id, kind }) => kind === 'norm' && id === figure.value('box'));
  const at = asked >= 0 ? asked : parts.findIndex(({ kind }) => kind === 'norm');
  const before = parts
    .slice(0, at)
    .filter(({ kind }) => kind === 'stream')
    .at(-1);
  return { norm: parts[at]?.id ?? '', before: before?.id ?? '' };
}

/** Mean and root mean square. */
function sizes(row: Float32Array): { mean: string; rms: string } {
  const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
  return { mean: four(mean), rms: four(lengthOf(row) / Math.sqrt(row.length)) };
}

/** The width of a cell where both matrices, the divisors and their brackets stand beside each other. */
const besides = (figure: FigureBlock, reading: Reading): number => {
  const others = figure.inClass ? figure.wall(240) : 190;
  return Math.max(1.5, Math.min(7, (roomFor(figure, reading) - others) / (2 * reading.shape.model)));
};

export function normView(figure: FigureBlock, reading: Reading): TemplateResult {
  const { labels } = figure.words;
  const { stack, layer, from, shown, focus, shape, tokens, plan } = reading;
  const { norm, before } = chosenNorm(figure, reading);
  const block = `${stack}.${layer}`;
  const scaleHook = `${block}.${norm.replace('hook_normalized', 'hook_scale')}`;
  const [input, output] = [rowsOf(reading, `${block}.${before}`), rowsOf(reading, `${block}.${norm}`)];
  const scale = { dims: [shown, 1], data: rowsOf(reading, scaleHook).data };
  const range = `0, ${from}:${from + shown}`;
  const cell = figure.narrow ? cellFor(figure, reading, shape.model + 12) : besides(figure, reading);
  const high = figure.inClass ? figure.wall(26) : 18;
  const row = focus - from;
  const norms = plan.parts.filter(({ kind }) => kind === 'norm');
  const one = (values: Float32Array): { token: string; mean: string; rms: string } => ({
    token: tokens[focus]?.label ?? '',
    ...sizes(values),
  });
  const pick = ({ detail }: CellEvent): void => {
    if (detail) figure.choose({ q: String(from + detail.row) });
  };
  return html`<div class="controls small"><div class="seg" role="group" aria-label=${labels.whichNorm}><span>${labels.whichNorm}</span>${norms.map(({ id }, i) => html`<button type="button" aria-pressed=${id === norm} @click=${() => figure.choose({ box: id })}>${i + 1}</button>`)}</div></div>
    <div class="side-by-side level">
      <div>
        <cf-matrix label="x" about=${labels.before} hue="stream" source="${block}.${before}[${range}]" .numbers=${input} .rowLabels=${rowNames(reading)} .cellWidth=${cell} .cellHeight=${high} .rails=${{ rows: [row] }} @cell-select=${pick}></cf-matrix>
        <p class="readout">${filled(labels.sizes, one(input.slice(row).data))}</p>
      </div>
      <cf-matrix label="÷" about=${labels.scale} source="${scaleHook}[${range}]" .numbers=${scale} .cellWidth=${figure.inClass ? figure.wall(88) : 48} .cellHeight=${high} .digits=${2} scale="plain"></cf-matrix>
      <div>
        <cf-matrix label="x̂" about=${labels.after} hue="stream" source="${block}.${norm}[${range}]" .numbers=${output} .cellWidth=${cell} .cellHeight=${high} .rails=${{ rows: [row] }} @cell-select=${pick}></cf-matrix>
        <p class="readout">${filled(labels.sizes, one(output.slice(row).data))}</p>
      </div>
    </div>
    <p class="readout rule">${filled(shape.norm === 'RMS' ? labels.rmsSays : labels.layerSays, { scale: two(scale.data[row] ?? 0) })}</p>`;
}
