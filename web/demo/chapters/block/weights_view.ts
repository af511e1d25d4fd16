// What a block has learned: its matrices at one scale, the count of each, and where the numbers of the whole model are.

import '../../book/pixel_matrix.js';
import { html, nothing, type TemplateResult } from 'lit';
import { grouped } from '../../book/grouped.js';
import { filled } from '../../book/markup.js';
import { vars } from '../../book/vars.js';
import type { Data, FigureBlock } from './figure.js';
import { type Inventory, type Kind, kinds, type Layer } from './inventory.js';

/** CSS pixels for a number, at most, and the least height of a vector. */
const most = 2;
const thin = 5;
/** What brackets add to a matrix. */
const brackets = { wide: 16, high: 6 };
/** Between matrices, with their brackets. */
const gap = 30;

export function weightsView(figure: FigureBlock, { reading, weights }: Data): TemplateResult {
  if (!weights) return html``;
  const { labels } = figure.words;
  const { layers, block } = weights;
  const high = figure.inClass ? figure.wall(190) : 200;
  const highest = Math.max(...layers.map(({ rows }) => rows));
  const widest = Math.max(...layers.map(({ columns }) => columns));
  const beside = figure.inClass ? figure.wall(480) : 370;
  const room = figure.width - (figure.narrow ? 0 : beside) - brackets.wide;
  const alone = Math.min(most, high / highest, room / widest);
  const fitting = sideBySide(layers, room);
  const cell = fitting > alone / 2 ? Math.min(alone, fitting) : alone;
  return html`<p class="caption">${filled(labels.blockHolds, { n: reading.layer + 1, count: grouped(block) })}</p>
    <div class="inventory">${kinds.map((kind) => ofKind(figure, kind, layers, cell))}</div>`;
}

/** The scale at which the attention's and the feed-forward network's matrices fit in one line. */
function sideBySide(layers: readonly Layer[], room: number): number {
  const line = layers.filter(({ kind }) => kind === 'attention' || kind === 'mlp');
  const columns = line.reduce((sum, one) => sum + one.columns, 0);
  return (room - gap * (line.length + 1)) / columns;
}

function ofKind(figure: FigureBlock, kind: Kind, all: readonly Layer[], cell: number): TemplateResult | typeof nothing {
  const layers = all.filter((one) => one.kind === kind);
  if (layers.length === 0) return nothing;
  const count = layers.reduce((sum, one) => sum + one.count, 0);
  return html`<section class=${kind}><p class="counted"><b>${nameOf(figure, kind)}</b> ${grouped(count)}</p>
    <div class="layers">${layers.map((one) => drawing(one, cell))}</div></section>`;
}

function drawing({ name, rows, columns, bias, times, count, tensor, values }: Layer, cell: number): TemplateResult {
  const height = rows === 1 ? thin : Math.max(2, cell * rows);
  const size = { width: `${Math.max(2, cell * columns) + brackets.wide}px`, height: `${height + brackets.high}px` };
  const shape = `${times > 1 ? `${times} × ` : ''}${rows === 1 ? columns : `${rows} × ${columns}`}${bias > 0 ? ` + ${bias}` : ''}`;
  return html`<figure>
    ${
      values
        ? html`<pixel-matrix label="${tensor}, ${shape}" source="parameter('${tensor}')" .numbers=${{ dims: [rows, columns], data: values.data }} ${vars(size)}></pixel-matrix>`
        : html`<div class="frame" ${vars(size)}></div>`
    }
    <figcaption><code>${name.split('.').at(-1)}</code>${shape === String(count) ? '' : html`<span class="muted">${shape}</span>`}<span>${grouped(count)}</span></figcaption>
  </figure>`;
}

const nameOf = (figure: FigureBlock, kind: Kind): string => {
  const { labels } = figure.words;
  return { attention: labels.attention, cross: labels.cross, mlp: labels.mlp, norm: labels.norms }[kind];
};

/** Where the numbers of the whole model are, and their sum by blocks. */
export function modelSum(figure: FigureBlock, { reading, weights }: Data): TemplateResult {
  if (!weights) return html``;
  const { labels } = figure.words;
  const { parts, total } = weights;
  const items = parts.map(({ kind, name, count }) => ({
    label: kind ? nameOf(figure, kind) : name.replaceAll('_', ' '),
    value: count,
  }));
  return html`<div class="odds">
    <p class="caption">${labels.modelHolds}</p>
    <cf-bars readonly format="number" digits="0" label=${labels.modelHolds} source="sums of the sizes of named_parameters()" .items=${items}></cf-bars>
    <p class="counted">${terms(figure, weights, reading.shape.layers).map((term, i) => html`${i > 0 ? ' + ' : ''}${term}`)} = <b>${grouped(total)}</b></p>
  </div>`;
}

/** Outside of blocks, the blocks of this stack, and those of the other. */
function terms(figure: FigureBlock, { blocks, block, elsewhere, total }: Inventory, layers: number): string[] {
  const { labels } = figure.words;
  const same = blocks === block * layers;
  return [
    grouped(total - blocks - elsewhere),
    same ? filled(labels.equalBlocks, { n: layers, count: grouped(block) }) : grouped(blocks),
    ...(elsewhere > 0 ? [grouped(elsewhere)] : []),
  ];
}
