// The logit lens (when the model knows its answer) and the attribution (which parts contributed to it).

import { two } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import type { Data, FigureSaying } from './figure.js';
import type { CellEvent } from './odds_view.js';

export function lensView(figure: FigureSaying, { lens, prompt }: Data): TemplateResult {
  if (!lens) return html``;
  const { labels } = figure.words;
  const names = lens.cells.map((_, layer) => (layer === 0 ? labels.start : filled(labels.afterBlock, { n: layer })));
  const tokens = prompt.tokens.slice(lens.from);
  const items = Array.from(lens.rise.data, (value, layer) => ({ label: names[layer] ?? '', value })).reverse();
  const part =
    lens.from > 0
      ? filled(labels.window, { from: lens.from + 1, to: prompt.tokens.length, of: prompt.tokens.length })
      : '';
  return html`<div class="with-side">
    <div>
      <p class="caption">${labels.lensCaption} <span class="muted">${part}</span></p>
      <cf-lens source="max(softmax(logitLens(model, inputs)))" .cells=${figure.revealed ? lens.cells : lens.cells.slice(0, -1)} .labels=${tokens.map(({ label }) => label)} .rowLabels=${names}></cf-lens>
    </div>
    <div class="side">
      <p class="caption">${filled(labels.rise, { answer: lens.answer.label })}</p>
      ${figure.revealed ? html`<cf-bars readonly source="softmax(logitLens(model, inputs, { pos: -1 }))[:, ${lens.answer.id}]" label=${filled(labels.rise, { answer: lens.answer.label })} max="1" .items=${items}></cf-bars>` : html`<p class="big">?</p>`}
    </div>
  </div>`;
}

/** The parts of blocks. */
const inBlocks = /^L\d+H\d+$|^\d+_mlp_out$/;

/** `L4H2` as "5·3", `4_mlp_out` as the label of a block's feed-forward network. */
function partName(figure: FigureSaying, label: string): string {
  const { labels } = figure.words;
  const head = /^L(\d+)H(\d+)$/.exec(label);
  if (head) return filled(labels.headName, { layer: Number(head[1]) + 1, head: Number(head[2]) + 1 });
  const network = /^(\d+)_mlp_out$/.exec(label);
  if (network) return filled(labels.networkName, { layer: Number(network[1]) + 1 });
  return label === 'bias' ? labels.bias : label === 'pos_embed' ? labels.position : labels.embedding;
}

const listed = 9;

export function whoView(figure: FigureSaying, { attribution }: Data): TemplateResult {
  if (!attribution) return html``;
  const { labels } = figure.words;
  const { answer, other, lead, parts, heads, networks } = attribution;
  const layers = heads.dims[0] ?? 0;
  const rows = Array.from({ length: layers }, (_, layer) => filled(labels.blockName, { n: layer + 1 }));
  const columns = Array.from({ length: heads.dims[1] ?? 0 }, (_, head) => String(head + 1));
  const bound = Math.max(...[...heads.data, ...networks.data].map(Math.abs));
  const best = [...parts].sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, listed);
  const others = parts.filter(({ label }) => !inBlocks.test(label)).map(({ label }) => partName(figure, label));
  const sum = parts.reduce((total, { value }) => total + value, 0);
  const call = `logitAttribution(model, inputs, { tokens: ${answer.id}, incorrect_tokens: ${other.id} }).contributions`;
  const open = ({ detail }: CellEvent): void => {
    if (detail)
      figure.book.address.go('heads', {
        l: String(detail.row),
        h: String(detail.column),
        view: 'read',
        step: undefined,
      });
  };
  const height = figure.inClass ? figure.wall(42) : 34;
  const secret = (): boolean => !figure.revealed;
  return html`<div class="with-side">
    <div>
      <p class="caption">${filled(labels.whoCaption, { answer: answer.label, other: other.label, lead: two(lead) })}</p>
      <div class="grids">
        <cf-matrix label="Δ" about=${labels.heads} source=${call} .numbers=${heads} .bound=${bound} .digits=${2} .rowLabels=${rows} .columnLabels=${columns} .cellWidth=${figure.narrow ? 0 : figure.inClass ? figure.wall(78) : 54} .cellHeight=${height} .secret=${secret} @cell-select=${open}></cf-matrix>
        <cf-matrix label="Δ" caption=${figure.inClass ? 'none' : 'below'} about=${labels.networks} source="${call} of mlp_out" .numbers=${networks} .bound=${bound} .digits=${2} .columnLabels=${[labels.network]} .cellWidth=${figure.inClass ? figure.wall(112) : 72} .cellHeight=${height} .secret=${secret}></cf-matrix>
      </div>
      <p class="verdict">${labels.opensHead}</p>
    </div>
    <div class="side">
      <p class="caption">${labels.ranked}</p>
      ${figure.revealed ? html`<cf-bars readonly format="number" source=${call} label=${labels.ranked} .items=${best.map(({ label, value }) => ({ label: partName(figure, label), value }))}></cf-bars>` : html`<p class="big">?</p>`}
      <p class="readout">${filled(labels.sums, { sum: two(sum), n: parts.length, heads: heads.size, networks: layers, others: others.join(', ') })}</p>
    </div>
  </div>`;
}
