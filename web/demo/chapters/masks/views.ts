// Chapter 5's other views: the fully masked row, multiplying by the mask, the four libraries.

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
  /** Whether only two rows of a matrix fit. */
  readonly narrow: boolean;
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

interface Part {
  readonly about: string | undefined;
  readonly numbers: Float;
  readonly source: string;
  readonly weights?: true;
  readonly masked?: true;
}

export function mistakeView(
  context: ViewContext,
  { product, productWeights, sum, sumWeights }: Mistake,
): TemplateResult {
  const { data, labels, cell, hiding, narrow } = context;
  const { focus } = data.sentence;
  const [from, to] = narrow ? [Math.max(0, focus - 1), focus + 1] : [0, data.labels.length];
  const secret = hiding ? () => true : undefined;
  const hidden = (r: number, c: number): boolean => !data.allowed[from + r]?.[c];
  const rows = data.labels.slice(from, to);
  const matrix = (label: string, { about, numbers, source, weights, masked }: Part, quiet: string): TemplateResult =>
    html`<cf-matrix label=${label} about=${about ?? ''} scale=${weights ? 'weights' : 'signed'} .bound=${weights ? 1 : 15} .numbers=${numbers.slice([from, to])} source="${source}${narrow ? `[${from}:${to}]` : ''}" .rowLabels=${rows} .columnLabels=${data.labels} quiet=${quiet}
      .cellWidth=${cell.width} .cellHeight=${cell.height} .masked=${masked ? hidden : undefined} .secret=${weights ? secret : undefined}></cf-matrix>`;
  const scores = `scaled_dot_product_attention(S, I, I, { mask: ${data.call}, scale: 1, need_scores: 'masked' })[1]`;
  const [beside, below] = narrow ? ['columns', 'columns'] : ['rows', ''];
  return html`<div class="pairs">
    ${matrix('M ⊙ S', { about: labels.multiplied, numbers: product, source: 'bmm(M, S), element by element' }, '')}
    ${matrix('softmax', { about: labels.wrongWeights, numbers: productWeights, source: 'softmax(M ⊙ S)', weights: true }, beside)}
    ${matrix('S + M', { about: labels.added, numbers: sum, source: scores, masked: true }, below)}
    ${matrix('softmax', { about: labels.rightWeights, numbers: sumWeights, source: `masked_softmax(S, ${data.call})`, weights: true, masked: true }, beside)}
  </div>`;
}

const code: Readonly<Record<Library, string>> = {
  sdpa: 'scaled_dot_product_attention(q, k, v, attn_mask)',
  mha: 'MultiheadAttention(…)(x, x, x, attn_mask=attn_mask)',
  hf: 'model(input_ids, attention_mask)',
  d2l: 'DotProductAttention()(q, k, v, valid_lens)',
};

export function librariesView({ labels, cell, hiding, narrow }: ViewContext, all: readonly Spelling[]): TemplateResult {
  const secret = hiding ? () => true : undefined;
  const size = narrow
    ? { width: Math.max(11, cell.width * 0.5), height: 11 }
    : { width: Math.max(16, cell.width * 0.8), height: Math.max(12, cell.height * 0.8) };
  return html`<div class="libraries two">${all.map(
    ({ library, argument, call, apart }) => html`<div class="library">
      <h3>${labels[library]}</h3><p class="muted">${labels[`${library}About`]}</p>
      ${
        argument
          ? html`<cf-matrix caption="none" scale=${library === 'd2l' ? 'plain' : 'weights'} digits="0" label=${library} .numbers=${{ dims: argument.dims, data: Array.from(argument.data, Number) }} source="${call.replace(/^Mask\.\w+/, '')} of ${call}" .cellWidth=${size.width} .cellHeight=${size.height} .secret=${secret}></cf-matrix>
            ${narrow && library === 'd2l' ? html`<p class="number">${Array.from(argument.data).join(' ')}</p>` : ''}<p class="code"><code>${code[library]}</code></p><p class="verdict">${labels.sameWeights} <b>${spoken(apart ?? 0)}</b></p>`
          : html`<p class="verdict">${labels[`${library}Cannot`]}</p>`
      }
    </div>`,
  )}</div>`;
}
