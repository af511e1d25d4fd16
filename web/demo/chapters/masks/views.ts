// What chapter 5 draws beside the mask that is painted: the row that sees nothing, the mistake, the four libraries.

import { spoken } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import type { Float } from '../head/head_numbers.js';
import type { MaskData } from './mask_numbers.js';
import type { EmptyRows, Library, Mistake, Spelling } from './other_rules.js';

export interface ViewContext {
  readonly data: MaskData;
  readonly labels: Readonly<Record<string, string>>;
  readonly cell: { readonly width: number; readonly height: number };
  readonly hiding: boolean;
}

export function emptyView({ data, labels, cell, hiding }: ViewContext, rows: EmptyRows): TemplateResult {
  const calls = {
    zeros: `scaled_dot_product_attention(q, k, v, { mask: ${data.call} })`,
    nan: 'softmax(s − max s)',
    uniform: `attention_pooling(q, k, v, { mask: ${data.call}, empty_row: 'uniform' })`,
  } as const;
  const secret = hiding ? () => true : undefined;
  const names = data.labels[rows.row] ?? '';
  const one = (kind: 'zeros' | 'nan' | 'uniform'): TemplateResult => html`<div class="library">
    <h3>${labels[kind]}</h3><p class="muted">${labels[`${kind}About`]}</p>
    <cf-matrix caption="none" scale="weights" label="A" .numbers=${rows[kind][0]} source="${calls[kind]}, weights[${rows.row}]" .rowLabels=${[names]} .columnLabels=${data.labels} .cellWidth=${cell.width} .cellHeight=${cell.height} .secret=${secret}></cf-matrix>
    <cf-matrix caption="none" label="Z" .numbers=${rows[kind][1]} .bound=${1.4} source="${calls[kind]}, output[${rows.row}]" .rowLabels=${['z']} .cellWidth=${cell.width} .cellHeight=${cell.height} .secret=${secret}></cf-matrix>
  </div>`;
  return html`<div class="libraries">${(['zeros', 'nan', 'uniform'] as const).map(one)}</div>`;
}

export function mistakeView(
  { data, labels, cell, hiding }: ViewContext,
  { product, productWeights, sum, sumWeights }: Mistake,
): TemplateResult {
  const secret = hiding ? () => true : undefined;
  const hidden = (r: number, c: number): boolean => !data.allowed[r]?.[c];
  const matrix = (
    label: string,
    about: string | undefined,
    numbers: Float,
    source: string,
    extra: { weights?: true; masked?: true; beside?: true },
  ): TemplateResult =>
    html`<cf-matrix label=${label} about=${about ?? ''} scale=${extra.weights ? 'weights' : 'signed'} .bound=${extra.weights ? 1 : 15} .numbers=${numbers} source=${source} .rowLabels=${data.labels} .columnLabels=${data.labels} quiet=${extra.beside ? 'rows' : ''}
      .cellWidth=${cell.width} .cellHeight=${cell.height} .masked=${extra.masked ? hidden : undefined} .secret=${extra.weights ? secret : undefined}></cf-matrix>`;
  return html`<div class="pairs">
    ${matrix('M ⊙ S', labels.multiplied, product, 'bmm(M, S), element by element', {})}
    ${matrix('softmax', labels.wrongWeights, productWeights, 'softmax(M ⊙ S)', { weights: true, beside: true })}
    ${matrix('S + M', labels.added, sum, `scaled_dot_product_attention(S, I, I, { mask: ${data.call}, scale: 1, need_scores: 'masked' })[1]`, { masked: true })}
    ${matrix('softmax', labels.rightWeights, sumWeights, `masked_softmax(S, ${data.call})`, { weights: true, masked: true, beside: true })}
  </div>`;
}

const code: Readonly<Record<Library, string>> = {
  sdpa: 'scaled_dot_product_attention(q, k, v, attn_mask)',
  mha: 'MultiheadAttention(…)(x, x, x, attn_mask=attn_mask)',
  hf: 'model(input_ids, attention_mask)',
  d2l: 'DotProductAttention()(q, k, v, valid_lens)',
};

export function librariesView({ labels, cell, hiding }: ViewContext, all: readonly Spelling[]): TemplateResult {
  const secret = hiding ? () => true : undefined;
  const size = { width: Math.max(16, cell.width * 0.72), height: Math.max(14, cell.height * 0.72) };
  return html`<div class="libraries two">${all.map(
    ({ library, argument, call, apart }) => html`<div class="library">
      <h3>${labels[library]}</h3><p class="muted">${labels[`${library}About`]}</p>
      ${
        argument
          ? html`<cf-matrix caption="none" scale=${library === 'd2l' ? 'plain' : 'weights'} digits="0" label=${library} .numbers=${{ dims: argument.dims, data: Array.from(argument.data, Number) }} source="${call.replace(/^Mask\.\w+/, '')} of ${call}" .cellWidth=${size.width} .cellHeight=${size.height} .secret=${secret}></cf-matrix>
            <p class="code"><code>${code[library]}</code></p><p class="verdict">${labels.sameWeights} <b>${spoken(apart ?? 0)}</b></p>`
          : html`<p class="verdict">${labels[`${library}Cannot`]}</p>`
      }
    </div>`,
  )}</div>`;
}
