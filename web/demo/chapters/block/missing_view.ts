// Ablations: the probability of the answer when one sublayer of one block adds nothing, for each of them.

import { percent } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import type { Data, FigureBlock } from './figure.js';
import type { Box } from './missing.js';
import type { CellEvent } from './tensor_view.js';

const labelOf: Readonly<Record<Box, 'attention' | 'cross' | 'mlp'>> = {
  hook_attn_out: 'attention',
  hook_cross_attn_out: 'cross',
  hook_mlp_out: 'mlp',
};

export function missingView(figure: FigureBlock, { reading, missing }: Data): TemplateResult {
  if (!missing) return html``;
  const { labels } = figure.words;
  const { answer, share, boxes, shares, says } = missing;
  const columns = boxes.map((box) => labels[labelOf[box]]);
  const rows = says.map((_, layer) => filled(labels.blockName, { n: layer + 1 }));
  const open = ({ detail }: CellEvent): void => {
    const box = detail && boxes[detail.column];
    if (!detail || !box) return;
    figure.choose({ l: String(detail.row), box, edit: `${reading.stack}.${detail.row}.${box}:zero` });
  };
  const cell = figure.narrow ? 0 : figure.inClass ? figure.wall(150) : 92;
  const changes = says
    .flatMap((row, layer) => row.map((said, i) => ({ said, layer, box: columns[i] ?? '' })))
    .filter(({ said }) => said.id !== answer.id);
  return html`<p class="caption">${filled(labels.shareWithout, { answer: answer.label, share: percent(share) })}</p>
    <cf-matrix scale="weights" label="p" about=${labels.withoutBox} source="softmax(run_with_hooks(edits: zero)[0, -1])[${answer.id}]" .numbers=${shares} .rowLabels=${rows} .columnLabels=${columns}
      .cellWidth=${cell} .cellHeight=${figure.inClass ? figure.wall(34) : 28} .secret=${() => !figure.revealed} @cell-select=${open}></cf-matrix>
    <p class="readout">${figure.revealed ? (changes.length === 0 ? labels.neverOther : changes.map(({ said, layer, box }) => filled(labels.saysOther, { said: said.label, n: layer + 1, box })).join(' ')) : ''}</p>
    <p class="verdict">${labels.chooseCell}</p>`;
}
