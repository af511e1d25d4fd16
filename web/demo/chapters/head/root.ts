// Why √d: random queries and keys with d elements each. The variance of their products grows with d, and softmax then
// puts nearly all weight on one key; divided by √d the variance stays at 1.

import { attention_pooling, scaled_dot_product_attention, Tensor } from 'clearformer';
import { type Cell, decimals, short } from 'clearformer/elements';
import { css, html, type TemplateResult } from 'lit';
import { onWall } from '../../book/class_mode.js';
import { grouped } from '../../book/grouped.js';
import { normal } from '../../book/random.js';
import { remembered } from '../../book/remembered.js';
import type { Float } from './head_numbers.js';

/** The sizes of queries and keys that are compared. */
export const sizes = [4, 8, 16, 32, 64, 128, 256, 512, 1024] as const;
/** Enough for a variance estimate within a few per cent. */
const [queries, keys] = [64, 64];
const [shownQueries, shownKeys] = [8, 12];

/** For random queries and keys of one size. */
interface Spread {
  readonly variance: number;
  readonly scaledVariance: number;
  /** The largest weight among the keys, averaged over the queries. */
  readonly peak: number;
  readonly scaledPeak: number;
}

export interface RootData {
  readonly spreads: readonly Spread[];
  /** For the chosen size. */
  readonly weights: Float;
  readonly scaledWeights: Float;
  readonly d: number;
}

function variance({ data }: Float): number {
  const mean = data.reduce((sum, value) => sum + value, 0) / data.length;
  return data.reduce((sum, value) => sum + (value - mean) ** 2, 0) / data.length;
}

/** The mean of the rows' maxima. */
function meanPeak({ dims, data }: Float): number {
  const [rows = 0, columns = 0] = dims;
  let sum = 0;
  for (let row = 0; row < rows; row++)
    sum += data.slice(row * columns, (row + 1) * columns).reduce((most, x) => Math.max(most, x), 0);
  return sum / rows;
}

const drawn = (d: number): readonly [Float, Float] => [normal(queries, d, d), normal(keys, d, d + 1)];
const first = ([q, k]: readonly [Float, Float]): readonly [Float, Float] => [
  q.slice([0, shownQueries]),
  k.slice([0, shownKeys]),
];

const measured = new Map<number, Promise<Spread>>();
/** Computed once by the package: the products, and the weights over the keys shown. */
export const spreadOf = (d: number): Promise<Spread> => remembered(measured, d, () => measure(d));

async function measure(d: number): Promise<Spread> {
  const [q, k] = drawn(d);
  const [, products] = await attention_pooling(q, k, k, { score: 'dot', need_scores: 'raw' });
  const [, scaled] = await scaled_dot_product_attention(q, k, k, { need_scores: 'raw' });
  const few = k.slice([0, shownKeys]);
  const [, weights] = await attention_pooling(q, few, few, { score: 'dot', need_weights: true });
  const [, scaledWeights] = await scaled_dot_product_attention(q, few, few, { need_weights: true });
  return {
    variance: variance(products),
    scaledVariance: variance(scaled),
    peak: meanPeak(weights),
    scaledPeak: meanPeak(scaledWeights),
  };
}

export async function rootData(d: number): Promise<RootData> {
  const [q, k] = first(drawn(d));
  const [, weights] = await attention_pooling(q, k, k, { score: 'dot', need_weights: true });
  const [, scaledWeights] = await scaled_dot_product_attention(q, k, k, { need_weights: true });
  const spreads: Spread[] = [];
  for (const size of sizes) {
    const isKnown = measured.has(size);
    spreads.push(await spreadOf(size));
    if (!isKnown) await new Promise((resolve) => setTimeout(resolve)); // yields to the event loop between sizes
  }
  return { spreads, weights, scaledWeights, d };
}

export const rootStyles = css`
  .root-view { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 10px 48px; max-width: 980px; margin: 6px auto 0; }
  .root-view h2 { font: max(20px, var(--cf-min-font-size)) var(--cf-serif); margin: 0 0 4px; }
  .root-view .all { grid-column: 1 / -1; }
  .root-view .slider { grid-column: 1 / -1; justify-content: center; font-size: max(17px, var(--cf-min-font-size)); }
  .root-view .slider input { width: min(420px, 50vw); }
  .large .root-view { max-width: 1240px; gap: 4px calc(48px * var(--wall)); } .large .root-view h2 { font-size: calc(27px * var(--wall)); }
  @container (max-width: 699px) { .root-view { gap: 8px 14px; } .root-view h2 { font-size: 16px; } .root-view .readout { font-size: 13px; } }
`;

const spreadRows = (spreads: readonly Spread[]): Float => {
  const rows = [
    spreads.map((one) => one.variance),
    spreads.map((one) => one.scaledVariance),
    spreads.map((one) => one.peak),
    spreads.map((one) => one.scaledPeak),
  ];
  return new Tensor('float32', Float32Array.from(rows.flat()), [rows.length, spreads.length]);
};

interface RootRequest {
  readonly data: RootData;
  readonly labels: Readonly<Record<string, string>>;
  readonly width: number;
  readonly large: boolean;
  readonly hiding: boolean;
  choose(d: number, manner: 'slide' | 'choose'): void;
}

export function rootView({ data, labels, width, large, hiding, choose }: RootRequest): TemplateResult {
  const { d, spreads, weights, scaledWeights } = data;
  const at = Math.max(0, sizes.indexOf(d as (typeof sizes)[number]));
  const now = spreads[at];
  const narrow = width < 700;
  const cell = narrow ? Math.floor((width - 60) / 2 / shownKeys) : large ? onWall(46) : 32;
  const side = (
    title: TemplateResult,
    numbers: Float,
    source: string,
    spread: number,
    peak: number,
  ): TemplateResult => html`<div>
    <h2>${title}</h2>
    <cf-matrix label="A" about=${narrow ? '' : labels.aboutA} scale="weights" .numbers=${numbers} source=${source} .cellWidth=${cell} .cellHeight=${narrow ? 13 : large ? onWall(30) : 24} .secret=${hiding ? () => true : undefined}></cf-matrix>
    <p class="readout">${labels.variance} <b>${hiding ? '?' : decimals(spread, 2)}</b> · ${labels.peak} <b>${hiding ? '?' : decimals(peak, 2)}</b></p>
  </div>`;
  const pooled = `q, k ~ N(0, 1), d = ${d}`;
  return html`<div class="root-view">
    <label class="slider"><span>d</span><input type="range" min="0" max=${sizes.length - 1} .value=${String(at)} aria-label=${labels.size ?? 'd'} aria-valuetext=${String(d)}
      @input=${(event: Event) => choose(sizes[Number((event.target as HTMLInputElement).value)] ?? 64, 'slide')} /><output class="number">${d}</output></label>
    ${side(html`softmax(<i>q · k</i>)`, weights, `attention_pooling(q, k, v, { score: 'dot', need_weights: true })[1], ${pooled}`, now?.variance ?? 0, now?.peak ?? 0)}
    ${side(html`softmax(<i>q · k</i> ÷ √${d})`, scaledWeights, `scaled_dot_product_attention(q, k, v, { need_weights: true })[1], ${pooled}`, now?.scaledVariance ?? 0, now?.scaledPeak ?? 0)}
    ${hiding ? '' : table(spreads, at, labels, { width, narrow, large, choose })}
  </div>`;
}

function table(
  spreads: readonly Spread[],
  at: number,
  labels: RootRequest['labels'],
  { width, narrow, large, choose }: Pick<RootRequest, 'width' | 'large' | 'choose'> & { narrow: boolean },
): TemplateResult {
  const rows = narrow
    ? ['σ²', 'σ² ÷ √d', 'max', 'max ÷ √d']
    : [labels.rowVariance, labels.rowScaledVariance, labels.rowPeak, labels.rowScaledPeak];
  const cell = narrow ? Math.floor((width - 110) / sizes.length) : large ? Math.max(82, onWall(96)) : 60;
  return html`<div class="all"><cf-matrix scale="plain" caption="none" digits=${narrow ? 'auto' : 2} label=${labels.spread} .numbers=${spreadRows(spreads)} .rowLabels=${rows} .columnLabels=${sizes.map(String)}
    source="variance(q · k), variance(q · k / √d), mean(max(weights)), mean(max(scaled weights)) for d = 4 … 1024" .cellWidth=${cell} .cellHeight=${large ? Math.max(26, onWall(30)) : 24} .rails=${{ columns: [at], columnHue: 'accent' }}
    @cell-select=${({ detail }: CustomEvent<Cell>) => choose(sizes[detail.column] ?? 64, 'choose')}></cf-matrix></div>`;
}

const readable = (value: number): string => (value < 999.5 ? short(value) : grouped(Math.round(value)));

/** Values for the prose. */
export const spreadValues = ({ d, spreads }: RootData): Record<string, string> => {
  const now = spreads[sizes.indexOf(d as (typeof sizes)[number])];
  return {
    bigD: String(d),
    variance: readable(now?.variance ?? 0),
    scaledVariance: decimals(now?.scaledVariance ?? 0, 2),
    peak: decimals(now?.peak ?? 0, 2),
    scaledPeak: decimals(now?.scaledPeak ?? 0, 2),
  };
};
