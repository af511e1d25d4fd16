// A head on a phone: the chosen token's row. A swipe or the arrows move to the next row; values can be edited as well.

import { type CellEdit, cssColour, decimals, four, two, weight } from 'clearformer/elements';
import { css, html, nothing, svg, type TemplateResult } from 'lit';
import { theme } from '../../book/theme.js';
import { shortened } from '../../book/token_texts.js';
import { windowAround } from '../../book/window.js';
import { at, byRoot, type HeadData, type MatrixName, rowOf, type Stage } from './head_numbers.js';
import type { Selected } from './selection.js';
import { boundOf, editedHook } from './views.js';

export const narrowStyles = css`
  .row-view { touch-action: pan-y; max-width: 620px; margin: 0 auto; }
  .row-head { display: flex; align-items: center; gap: 6px; font: max(19px, var(--cf-min-font-size)) var(--cf-serif); min-height: 34px; }
  .row-head .plain { font: max(20px, var(--cf-min-font-size)) var(--cf-sans); min-width: 40px; min-height: 40px; } .row-head .plain:first-of-type { margin-left: auto; }
  .row-line { display: grid; grid-template-columns: 48px minmax(0, 1fr); align-items: center; font: italic max(17px, var(--cf-min-font-size)) var(--cf-serif); }
  .row-line > span { text-align: right; padding-right: 6px; font-variant-numeric: tabular-nums; white-space: nowrap; } .row-line cf-matrix { font-style: normal; }
  .row-line small { font: max(12px, var(--cf-min-font-size)) var(--cf-sans); }
  .row-chain { color: var(--cf-muted); font-size: max(14px, var(--cf-min-font-size)); margin: 2px 0 0 48px; font-variant-numeric: tabular-nums; } .row-chain b { color: var(--cf-ink); font-weight: 600; }
  .row-bars text { font: max(15px, var(--cf-min-font-size)) var(--cf-serif); } .row-bars text.share { font: max(12px, var(--cf-min-font-size)) var(--cf-sans); } .row-bars .on { font-weight: 600; fill: var(--cf-k); }
  .row-bars [role='button'] { cursor: pointer; }
`;

interface NarrowRequest {
  readonly data: HeadData;
  readonly selected: Selected;
  readonly stage: Stage;
  readonly width: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly hiding: boolean;
  /** Whether a value is edited. */
  readonly edited: (matrix: MatrixName, row: number, column: number) => boolean;
  select(selected: Selected): void;
  edit(cell: Selected, value: number): void;
  focus(row: number): void;
}

const shownElements = 8;

export function narrow(request: NarrowRequest): TemplateResult {
  const { data, selected, labels } = request;
  const { focus } = data;
  const last = data.queries.length - 1;
  const values = selected.matrix === 'V' || selected.matrix === 'Z';
  const order = heaviest(data, focus);
  const key = keyOf(request, order);
  let start: number | undefined;
  const swipe = (event: PointerEvent): void => {
    const moved = start === undefined ? 0 : event.clientX - start;
    start = undefined;
    if (Math.abs(moved) > 40) request.focus(Math.max(0, Math.min(last, focus + (moved < 0 ? 1 : -1))));
  };
  return html`<div class="row-view" @pointerdown=${(event: PointerEvent) => {
    start = event.clientX;
  }} @pointerup=${swipe}>
    <div class="row-head">
      <span><span class="q">${data.queries[focus]}</span><span class="muted"> ${values ? labels.mixes : '·'} </span>${values ? nothing : html`<span class="k">${data.keys[key]}</span>`}</span>
      <button type="button" class="plain" aria-label=${labels.before ?? ''} ?disabled=${focus === 0} @click=${() => request.focus(focus - 1)}>‹</button>
      <button type="button" class="plain" aria-label=${labels.after ?? ''} ?disabled=${focus === last} @click=${() => request.focus(focus + 1)}>›</button>
    </div>
    ${values ? valueLines(request, order) : scoreLines(request, key)}
    ${request.hiding ? html`<p class="row-chain">${labels.guess}</p>` : bars(request, key)}
  </div>`;
}

/** Keys in descending order of weight. */
function heaviest({ now }: HeadData, row: number): number[] {
  const weights = rowOf(now.A, row);
  return Array.from(weights.keys()).sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0));
}

function keyOf({ selected }: NarrowRequest, order: readonly number[]): number {
  const { matrix, row, column } = selected;
  if (matrix === 'S' || matrix === 'A') return column;
  return matrix === 'K' ? row : (order[0] ?? 0);
}

function line(
  request: NarrowRequest,
  matrix: 'Q' | 'K' | 'V' | 'Z',
  row: number,
  name: TemplateResult,
): TemplateResult {
  const { data, width, selected } = request;
  const whole = data.now[matrix];
  const count = whole.dims[1] ?? 0;
  const from =
    count <= shownElements
      ? 0
      : Math.min(count - shownElements, Math.floor(selected.column / shownElements) * shownElements);
  const shown = Math.min(count, shownElements);
  const numbers = whole.slice([row, row + 1], [from, from + shown]);
  const part = count > shown ? ([from, from + shown] as const) : undefined;
  const cell = { matrix, row, column: 0 };
  const editable = matrix !== 'Z';
  return html`<div class="row-line"><span class=${matrix === 'Z' ? '' : matrix.toLowerCase()}>${name}</span>
    <cf-matrix caption="none" .numbers=${numbers} source=${data.source(matrix, request.stage, { rows: [row, row + 1], columns: part })} label=${matrix}
      hue=${matrix === 'Z' ? 'ink' : matrix.toLowerCase()} .cellWidth=${(width - 70) / shown} .cellHeight=${24} ?editable=${editable}
      .bound=${boundOf(data.before[matrix])} .edited=${(_: number, c: number) => request.edited(matrix, row, from + c)}
      @cell-edit=${({ detail }: CustomEvent<CellEdit>) => request.edit({ ...cell, column: from + detail.column }, detail.value)}></cf-matrix></div>`;
}

function scoreLines(request: NarrowRequest, key: number): TemplateResult {
  const { data, labels, stage, hiding } = request;
  const { now, focus } = data;
  const hidden = at(now.masked, focus, key) === Number.NEGATIVE_INFINITY;
  const share = decimals(at(now.A, focus, key), 4);
  const weighed =
    stage === 'masked' && !hiding ? html` → ${hidden ? '−∞ → ' : ''}${labels.weight} <b>${share}</b>` : nothing;
  const root = html` ${byRoot(data) ? `÷ √${now.Q.dims[1]} =` : '→'} ${two(at(now.scaled, focus, key))}`;
  return html`${line(request, 'Q', focus, html`q`)}${line(request, 'K', key, html`k`)}${productLine(request, key)}
    <p class="row-chain">${labels.sum} ${two(at(now.raw, focus, key))}${stage === 'raw' ? nothing : root}${weighed}</p>`;
}

/** The terms of q · k. */
function productLine({ data, width, stage }: NarrowRequest, key: number): TemplateResult | typeof nothing {
  const { now, focus } = data;
  const q = rowOf(now.Q, focus);
  if (q.length > shownElements) return nothing;
  const k = rowOf(now.K, key);
  const numbers = { dims: [q.length], data: q.map((value, i) => value * (k[i] ?? 0)) };
  const [one, other] = [
    data.source('Q', stage, { rows: [focus, focus + 1], columns: undefined }),
    data.source('K', stage, { rows: [key, key + 1], columns: undefined }),
  ];
  return html`<div class="row-line"><span></span><cf-matrix caption="none" label="q ⊙ k" .numbers=${numbers} source="${one} ⊙ ${other}" .cellWidth=${(width - 70) / q.length} .cellHeight=${22}></cf-matrix></div>`;
}

function valueLines(request: NarrowRequest, order: readonly number[]): TemplateResult {
  const { data, labels } = request;
  const { now, focus } = data;
  const read = order.slice(0, 2).filter((key) => at(now.A, focus, key) > 0);
  const share = (key: number): string => decimals(at(now.A, focus, key), 2);
  return html`${read.map((key) => line(request, 'V', key, html`<small>${share(key)} ×</small>`))}${line(request, 'Z', focus, html`z`)}
    <p class="row-chain">${read.map((key) => html`<b>${share(key)}</b> × ${data.keys[key]} + `)}… = <i>z</i> <span class="sr-only">${labels.aboutZ}: ${four(at(now.Z, focus, 0))}</span></p>`;
}

function bars(request: NarrowRequest, key: number): TemplateResult {
  const { data, width } = request;
  const { now, focus } = data;
  const most = Math.max(5, Math.floor(width / 36));
  const span = windowAround(Math.min(focus, data.keys.length - 1), data.keys.length, most);
  const [step, base, tall] = [width / span.count, 84, 62];
  return html`<svg class="row-bars" width=${width} height="116" role="group">
    ${Array.from({ length: span.count }, (_, i) => {
      const column = span.from + i;
      const share = at(now.A, focus, column) || 0; // NaN, of scores beyond float32, has no bar
      const hidden = at(now.masked, focus, column) === Number.NEGATIVE_INFINITY;
      const height = Math.min(tall, Math.max(1, share * tall));
      const x = (i + 0.5) * step;
      const choose = (): void => request.select({ matrix: 'S', row: focus, column });
      const keyed = (event: KeyboardEvent): void => {
        if (event.key === 'Enter' || event.key === ' ') choose();
      };
      return svg`<g role="button" tabindex="0" aria-label="${data.keys[column]}: ${hidden ? '−∞' : decimals(share, 4)}" @click=${choose} @keydown=${keyed}>
        <rect x=${i * step} y="0" width=${step} height="116" fill="transparent"/>
        ${hidden ? svg`<rect x=${i * step + 3} y=${base - 24} width=${step - 5} height="24" fill="var(--cf-sunken)"/>` : svg`<rect x=${i * step + 3} y=${base - height} width=${Math.max(2, step - 5)} height=${height} rx="1.5" fill=${cssColour(weight(Math.max(0.1, share), theme.current))}/>`}
        ${share >= 0.02 ? svg`<text class="share" aria-hidden="true" x=${x} y=${base - height - 5} text-anchor="middle">${decimals(share, 2)}</text>` : nothing}
        <text x=${x} y=${base + 19} text-anchor="middle" class=${column === key ? 'on' : ''}>${shortened(data.keys[column] ?? '', step)}</text>
        ${column === focus ? svg`<path d="M${i * step + 5} ${base + 28}h${step - 10}" stroke="var(--cf-q)" stroke-width="2.5"/>` : nothing}
      </g>`;
    })}
    <path d="M1 ${base + 0.5}h${width - 2}" stroke="var(--cf-line-strong)"/>
  </svg>`;
}

export const narrowEdited =
  (data: HeadData, stage: Stage, edits: readonly { hook: string; head?: number; pos?: number; index?: number }[]) =>
  (matrix: MatrixName, row: number, column: number): boolean => {
    const place = editedHook(data, matrix, stage);
    return edits.some(
      ({ hook, head, pos, index }) => hook === place?.hook && head === place.head && pos === row && index === column,
    );
  };
