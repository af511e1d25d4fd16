// bmm: all heads at once. A batch is a stack of matrices; bmm multiplies each with its counterpart, independently.

import { bmm, matmul, Tensor } from 'clearformer';
import { spoken } from 'clearformer/elements';
import { css, html, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { transposed } from '../../book/tensors.js';
import type { Float, HeadData } from './head_numbers.js';

export interface BatchData {
  /** [head, position, d], [head, d, position] and their products [head, position, position]. */
  readonly Q: Float;
  readonly K: Float;
  readonly S: Float;
  /** Per head: the largest absolute difference of bmm's matrix from the separate product of the two matrices. */
  readonly apart: readonly number[];
}

/**
 * [position, head, d] as [head, position, d]; with fewer than `heads` heads, each repeated for the heads that share it.
 */
function stacked({ dims, data }: Float, heads: number): Float {
  const [positions = 0, own = 1, d = 0] = dims;
  const rows = Array.from({ length: heads * positions }, (_, i) => {
    const head = Math.floor((Math.floor(i / positions) * own) / heads);
    const start = ((i % positions) * own + head) * d;
    return data.slice(start, start + d);
  });
  const flat = new Float32Array(heads * positions * d);
  rows.forEach((row, i) => {
    flat.set(row, i * d);
  });
  return new Tensor('float32', flat, [heads, positions, d]);
}

const most = 12;

export async function batchData({ all, hooks, now, focus }: HeadData): Promise<BatchData> {
  const positions = now.Q.dims[0] ?? 0;
  const from = Math.max(0, Math.min(positions - most, focus - 8));
  const part = [from, Math.min(positions, from + most)] as const;
  const heads = hooks?.heads ?? 1;
  const alone = (tensor: Float): Float =>
    new Tensor('float32', tensor.data, [tensor.dims[0] ?? 0, 1, tensor.dims[1] ?? 0]);
  const keyPart = [0, Math.min(now.K.dims[0] ?? 0, most)] as const;
  const Q = stacked(all ? all.Q.slice(part) : alone(now.Q.slice(part)), heads);
  const keys = stacked(all ? all.K.slice(part) : alone(now.K.slice(keyPart)), heads);
  const turned = Array.from({ length: heads }, (_, head) => transposed(keys.slice(head)));
  const [d = 0, columns = 0] = turned[0]?.dims ?? [];
  const flat = new Float32Array(heads * d * columns);
  turned.forEach(({ data }, head) => {
    flat.set(data, head * d * columns);
  });
  const K = new Tensor('float32', flat, [heads, d, columns]);
  const S = await bmm(Q, K);
  const apart = await Promise.all(
    turned.map(async (key, head) => {
      const single = await matmul(Q.slice(head), key);
      const together = S.slice(head);
      return single.data.reduce((far, value, i) => Math.max(far, Math.abs(value - (together.data[i] ?? 0))), 0);
    }),
  );
  return { Q, K, S, apart };
}

export const batchStyles = css`
  .batch-view .stack { display: flex; gap: 10px 26px; justify-content: center; align-items: flex-end; flex-wrap: wrap; }
  .batch-view .times { font: 26px var(--cf-serif); color: var(--cf-muted); align-self: center; }
  .batch-view .all { display: flex; flex-wrap: wrap; justify-content: center; gap: 4px 12px; margin: 4px 0 12px; }
  .batch-view .all button { border: 2px solid transparent; background: none; border-radius: 6px; padding: 4px; cursor: pointer; font-size: max(13px, var(--cf-min-font-size)); min-height: 30px; }
  .batch-view .all button[aria-pressed='true'] { border-color: var(--cf-ink); }
  .batch-view .shapes { text-align: center; font: max(17px, var(--cf-min-font-size)) var(--cf-mono); margin: 0 0 10px; }
  .batch-view .readout { text-align: center; margin-top: 6px; }
  @container (max-width: 699px) { .batch-view .shapes { font-size: 14px; } .batch-view .stack { gap: 6px 10px; } .batch-view .times { font-size: 18px; } }
`;

interface BatchRequest {
  readonly data: BatchData;
  readonly labels: Readonly<Record<string, string>>;
  readonly width: number;
  readonly head: number;
  choose(head: number): void;
}

export function batchView({ data, labels, width, head, choose }: BatchRequest): TemplateResult {
  const { Q, K, S, apart } = data;
  const [heads = 1, rows = 0, d = 0] = Q.dims;
  const columns = S.dims[2] ?? 0;
  const chosen = Math.min(head, heads - 1);
  const narrow = width < 700;
  const cell = Math.max(5, Math.min(30, Math.floor((width - (narrow ? 170 : 180)) / (d + 2 * columns))));
  const height = Math.max(narrow ? 9 : 15, Math.round(cell * 0.84));
  const shape = (tensor: Float): string => `[${tensor.dims.join(', ')}]`;
  const thumbs = (room: number): number =>
    Math.max(3, Math.min(7, Math.floor((room - 20 * Math.min(heads, 8)) / (Math.min(heads, 8) * columns))));
  return html`<div class="batch-view">
    <p class="shapes"><span class="q">${shape(Q)}</span> × <span class="k">${shape(K)}</span> = ${shape(S)}</p>
    <div class="all" role="group" aria-label=${labels.batch ?? ''}>${Array.from({ length: heads }, (_, b) => {
      const name = filled(labels.slice ?? '', { n: b + 1 });
      return html`<button type="button" aria-pressed=${b === chosen} aria-label=${name} @click=${() => choose(b)}>
        ${narrow ? '' : html`<cf-matrix inert caption="none" label=${name} .numbers=${S.slice(b)} source="bmm(Q, Kᵀ)[${b}]" .cellWidth=${thumbs(width)} .cellHeight=${thumbs(width)}></cf-matrix>`}${b + 1}</button>`;
    })}</div>
    <div class="stack">
      <cf-matrix label="Q" hue="q" .numbers=${Q.slice(chosen)} source="Q[${chosen}]" .cellWidth=${cell} .cellHeight=${height}></cf-matrix>
      <span class="times">×</span>
      <cf-matrix label="K⊤" hue="k" .numbers=${K.slice(chosen)} source="Kᵀ[${chosen}]" .cellWidth=${cell} .cellHeight=${height}></cf-matrix>
      <span class="times">=</span>
      <cf-matrix label="S" .numbers=${S.slice(chosen)} source="bmm(Q, Kᵀ)[${chosen}] of ${rows} rows" .cellWidth=${cell} .cellHeight=${height}></cf-matrix>
    </div>
    <p class="readout">${filled(labels.batchApart ?? '', { n: chosen + 1 })} <b>${spoken(apart[chosen] ?? 0)}</b></p>
  </div>`;
}
