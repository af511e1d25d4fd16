// The stream through all blocks: the chosen token's vector at every depth, and the norm of every token's vector.

import { decimals } from 'clearformer/elements';
import { html, svg, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { activation } from '../../book/shelf.js';
import type { FigureBlock } from './figure.js';
import { type Depth, lengthOf, type Reading } from './reading.js';
import { type CellEvent, cellFor, roomFor, rowNames, windowNote } from './tensor_view.js';

const [ribbonWidth, lengthCell] = [84, 33];

/** A short label of a depth: "3 + attention". */
const nameOf = (figure: FigureBlock, { kind, layer }: Depth): string => {
  const { labels } = figure.words;
  return kind === 'in' ? labels.depthIn : filled(labels[`depth_${kind}`], { n: layer + 1 });
};

/** The stream's cells: the ribbon and the lengths stand beside them, or, of wide models, below. */
function streamCell(figure: FigureBlock, reading: Reading): number {
  const { shape, shown } = reading;
  const beside = (roomFor(figure, reading) - ribbonWidth - shown * lengthCell - 124) / shape.model; // 124: gaps and brackets
  if (figure.narrow || figure.inClass || beside < 1.5)
    return cellFor(figure, reading, shape.model + 40, figure.inClass ? 0.42 : 0.66);
  return Math.min(14, beside);
}

export function streamView(figure: FigureBlock, reading: Reading): TemplateResult {
  const { labels } = figure.words;
  const { depths, now, focus, from, shown, shape, tokens } = reading;
  const vectors = depths.map(({ hook }) => activation(now, hook));
  const stream = new Float32Array(depths.length * shape.model);
  const lengths = new Float32Array(depths.length * shown);
  vectors.forEach((tensor, depth) => {
    stream.set(tensor.slice(0, focus).data, depth * shape.model);
    for (let i = 0; i < shown; i++) lengths[depth * shown + i] = lengthOf(tensor.slice(0, from + i).data);
  });
  const names = depths.map((depth) => nameOf(figure, depth));
  const high = figure.inClass ? figure.wall(26) : 20;
  const open = ({ detail }: CellEvent): void => {
    const depth = detail && depths[detail.row];
    if (depth) figure.choose({ l: String(depth.layer), box: depth.hook.split('.').at(-1), view: 'tensor' });
  };
  return html`<div class="side-by-side">
    <div>
      <p class="caption">${filled(labels.streamOf, { token: tokens[focus]?.label ?? '' })}</p>
      <cf-matrix label="x" about=${labels.rowPerSum} hue="stream" source="${reading.stack}.*.hook_resid_*[0, ${focus}]" .numbers=${{ dims: [depths.length, shape.model], data: stream }}
        .rowLabels=${names} .cellWidth=${streamCell(figure, reading)} .cellHeight=${high} @cell-select=${open}></cf-matrix>
    </div>
    ${figure.narrow ? '' : ribbon(lengths, { rows: depths.length, shown, column: focus - from, high })}
    <div>
      <p class="caption">${labels.lengths} <span class="muted">${windowNote(figure, reading)}</span></p>
      <cf-matrix label="|x|" about=${labels.lengthOfEach} hue="stream" source="norm(${reading.stack}.*.hook_resid_*[0, ${from}:${from + shown}])" .numbers=${{ dims: [depths.length, shown], data: lengths }} .digits=${1}
        .columnLabels=${rowNames(reading)} .cellWidth=${figure.narrow ? 0 : figure.inClass ? figure.wall(60) : lengthCell} .cellHeight=${high} .rails=${{ columns: [focus - from] }}
        @cell-select=${({ detail }: CellEvent) => detail && figure.choose({ q: String(from + detail.column) })}></cf-matrix>
    </div>
  </div>`;
}

/** The chosen token's stream as a vertical ribbon whose width is the vector's norm. */
function ribbon(
  lengths: Float32Array,
  { rows, shown, column, high }: { rows: number; shown: number; column: number; high: number },
): TemplateResult {
  const values = Array.from({ length: rows }, (_, row) => lengths[row * shown + column] ?? 0);
  const most = Math.max(...values, 1e-9);
  const [width, top] = [ribbonWidth, 10];
  const point = (value: number, row: number, side: 1 | -1): string =>
    `${width / 2 + (side * (value / most) * (width - 8)) / 2} ${top + (row + 0.5) * high}`;
  const path = [
    ...values.map((value, row) => point(value, row, -1)),
    ...values.map((value, row) => point(value, row, 1)).reverse(),
  ];
  return html`<svg class="down" width=${width} height=${top * 2 + rows * high} aria-hidden="true">
    <path class="ribbon" d="M${path.join('L')}Z" />
    ${values.map((value, row) => svg`<text x=${width / 2} y=${top + (row + 0.5) * high + 4} text-anchor="middle">${decimals(value, 1)}</text>`)}
  </svg>`;
}
