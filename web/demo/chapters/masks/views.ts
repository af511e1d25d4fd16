// Chapter 5's other views: the fully masked row, multiplying by the mask, the four libraries.

import { spoken } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { partOf, partText, rangeOf, type Window } from '../../book/window.js';
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
  readonly large: boolean;
  /** The window of tokens that is drawn, as rows and as columns. */
  readonly window: Window;
}

export function emptyView({ data, labels, cell, hiding, window }: ViewContext, rows: EmptyRows): TemplateResult {
  const calls = {
    zeros: `scaled_dot_product_attention(q, k, v, { mask: ${data.call} })`,
    nan: 'softmax(s − max s)',
    uniform: `attention_pooling(q, k, v, { mask: ${data.call}, empty_row: 'uniform' })`,
  } as const;
  const secret = hiding ? () => true : undefined;
  const name = data.labels[rows.row] ?? '';
  const range = rangeOf(window);
  const part = window.count < window.of ? `, ${partText(partOf(window))}` : '';
  const one = (kind: 'zeros' | 'nan' | 'uniform'): TemplateResult => html`<div class="library">
    <h3>${labels[kind]}</h3><p class="muted">${labels[`${kind}About`]}</p>
    <cf-matrix caption="none" scale="weights" label="A" .numbers=${rows[kind][0].slice(null, range)} source="${calls[kind]}, weights[${rows.row}${part}]" .rowLabels=${[name]} .columnLabels=${data.labels.slice(...range)} .cellWidth=${cell.width} .cellHeight=${cell.height} .secret=${secret}></cf-matrix>
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
  const { data, labels, cell, hiding, narrow, large, window } = context;
  const { focus } = data.sentence;
  const columns = rangeOf(window);
  const [from, to] = narrow ? [Math.max(0, focus - 1), focus + 1] : columns;
  const part = partOf(window);
  const place = part ? `[${from}:${to}, ${partText(part)}]` : narrow ? `[${from}:${to}]` : '';
  const secret = hiding ? () => true : undefined;
  const hidden = (r: number, c: number): boolean => !data.allowed[from + r]?.[window.from + c];
  const rows = data.labels.slice(from, to);
  const matrix = (label: string, { about, numbers, source, weights, masked }: Part, quiet: string): TemplateResult =>
    html`<cf-matrix label=${label} about=${about ?? ''} scale=${weights ? 'weights' : 'signed'} .bound=${weights ? 1 : 15} .numbers=${numbers.slice([from, to], columns)} source="${source}${place}" .rowLabels=${rows} .columnLabels=${data.labels.slice(...columns)} quiet=${quiet}
      .cellWidth=${cell.width} .cellHeight=${cell.height} .masked=${masked ? hidden : undefined} .secret=${weights ? secret : undefined}></cf-matrix>`;
  const scores = `scaled_dot_product_attention(q, k, v, { mask: ${data.call}, need_scores: 'masked' })[1]`;
  const [beside, below] = narrow ? ['columns', 'columns'] : ['rows', large ? 'columns' : ''];
  return html`<div class="pairs">
    ${matrix('M ⊙ S', { about: labels.multiplied, numbers: product, source: 'bmm(M, S), element by element' }, '')}
    ${matrix('softmax', { about: labels.wrongWeights, numbers: productWeights, source: 'softmax(M ⊙ S)', weights: true }, beside)}
    ${matrix('S + M', { about: labels.added, numbers: sum, source: scores, masked: true }, below)}
    ${matrix('softmax', { about: labels.rightWeights, numbers: sumWeights, source: `masked_softmax(S, ${data.call})`, weights: true, masked: true }, large ? 'both' : beside)}
  </div>`;
}

const code: Readonly<Record<Library, string>> = {
  sdpa: 'scaled_dot_product_attention(q, k, v, attn_mask)',
  mha: 'MultiheadAttention(…)(x, x, x, attn_mask=attn_mask)',
  hf: 'model(input_ids, attention_mask)',
  d2l: 'DotProductAttention()(q, k, v, valid_lens)',
};

export function librariesView(context: ViewContext, all: readonly Spelling[]): TemplateResult {
  const { labels, hiding, window } = context;
  const secret = hiding ? () => true : undefined;
  const range = rangeOf(window);
  const one = ({ library, argument, call, apart }: Spelling): TemplateResult => {
    const shown = argument?.slice(argument.dims[0] === 1 ? null : range, range);
    const size = argumentCell(context, shown?.dims[0] ?? 1);
    const part = window.count < window.of ? `[:, ${partText(partOf(window))}]` : '';
    return html`<div class="library">
      <h3>${labels[library]?.split('_').map((part, i) => html`${i > 0 ? html`_<wbr />` : ''}${part}`)}</h3><p class="muted">${labels[`${library}About`]}</p>
      ${
        shown
          ? html`<cf-matrix caption="none" scale=${library === 'd2l' ? 'plain' : 'weights'} digits="0" label=${library} .numbers=${{ dims: shown.dims, data: Array.from(shown.data, Number) }} source="${call.replace(/^Mask\.\w+/, '')} of ${call}${part}" .cellWidth=${size.width} .cellHeight=${size.height} .secret=${secret}></cf-matrix>
            <p class="code"><code>${code[library]}</code></p><p class="verdict">${labels.sameWeights} <b>${spoken(apart ?? 0)}</b></p>`
          : html`<p class="verdict">${labels[`${library}Cannot`]}</p>`
      }
    </div>`;
  };
  return html`<div class="libraries two">${all.map(one)}</div>`;
}

/** Cell size of a library's mask argument; single rows have digits, for which a matrix needs 22 pixels. */
function argumentCell({ cell, narrow, large }: ViewContext, rows: number): ViewContext['cell'] {
  if (narrow)
    return rows === 1
      ? { width: Math.max(22, cell.width), height: 20 }
      : { width: Math.max(8, cell.width * 0.5), height: 11 };
  if (large) return rows === 1 ? { width: 32, height: 30 } : { width: 32, height: 13 };
  const [width, height] = rows === 1 ? [24, 20] : [16, 12];
  return { width: Math.max(width, cell.width * 0.8), height: Math.max(height, cell.height * 0.8) };
}
