// The read-out of one cell in the corner above Q: how its value is computed, term by term.

import { cssColour, decimals, four, type Numbers, signed, two, weight } from 'clearformer/elements';
import { css, html, nothing, svg, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { theme } from '../../book/theme.js';
import { vars } from '../../book/vars.js';
import { at, byRoot, type Float, rowOf } from './head_numbers.js';
import type { DrawingContext } from './overlay.js';
import type { Projections } from './read_weights.js';

interface ReadoutContext extends DrawingContext {
  /** The index of the term under the pointer. */
  readonly product: number | undefined;
  readonly point: (product: number | undefined) => void;
  /** The weights of the projections, once they have been measured. */
  readonly projections: Projections | undefined;
}

export const readoutStyles = css`
  .corner { font-size: max(13.5px, var(--cf-min-font-size)); font-variant-numeric: tabular-nums; line-height: 1.3; }
  .corner h2 { margin: 0 0 6px; font: max(18px, var(--cf-min-font-size)) / 1.2 var(--cf-serif); font-weight: 400; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
  .large .corner { line-height: 1.15; }
  .large .corner .terms { grid-template-columns: minmax(calc(44px * var(--wall)), max-content) repeat(4, max-content) minmax(0, 1fr); }
  .large .corner .terms.five { grid-template-columns: minmax(calc(44px * var(--wall)), max-content) repeat(3, max-content) minmax(0, 1fr); } .large .corner h2 { font-size: calc(26px * var(--wall)); }
  .terms { display: grid; grid-template-columns: auto repeat(4, max-content) minmax(30px, 1fr); column-gap: 0.4em; align-items: center; }
  .terms.five { grid-template-columns: auto max-content max-content max-content minmax(30px, 1fr); }
  .term { display: grid; grid-template-columns: subgrid; grid-column: 1 / -1; align-items: center; height: var(--row); border-radius: 4px; }
  .term:hover, .term.on { background: var(--cf-sunken); }
  .term > * { text-align: right; white-space: nowrap; }
  .term .token { font-family: var(--cf-serif); color: var(--cf-muted); max-width: 70px; overflow: hidden; text-overflow: ellipsis; }
  .term .on { font-weight: 600; color: var(--cf-ink); }
  .small .term { font-size: 0.86em; }
  .corner .chain { margin-top: 6px; color: var(--cf-muted); }
  .corner .chain b { color: var(--cf-ink); font-weight: 600; } .corner .chain span { color: var(--cf-ink); }
  .corner .chain b.a { color: var(--cf-accent); }
  .corner sup { font-size: 0.75em; line-height: 1; }
  .corner cf-matrix { position: relative; }
  .strip { display: grid; grid-template-columns: 18px minmax(0, 1fr); align-items: center; }
  .strip i { font: italic max(17px, var(--cf-min-font-size)) var(--cf-serif); }
`;

/** More terms than this are shown as bars. */
const mostTerms = 16;

export function readout(context: ReadoutContext): TemplateResult {
  const { matrix } = context.at;
  if (matrix === 'S') return score(context);
  if (matrix === 'A') return weights(context);
  return matrix === 'Z' ? mixture(context) : projected(context);
}

interface Term {
  readonly index: number;
  readonly one: number;
  readonly other: number;
  readonly label?: string;
}

const rowHeight = ({ geometry, large }: ReadoutContext, count: number): number =>
  Math.max(11, Math.min(large ? 27 : 20, (geometry.corner.height - (large ? 74 : 56)) / count));

/** Heights in class mode: of a row at least, and around the rows if all fit and if not. */
interface Room {
  readonly row: number;
  readonly all: number;
  readonly some: number;
}

/** In class mode: the indices of the largest values, as many as fit, in their order. */
function fitting(
  { geometry, large }: ReadoutContext,
  indices: readonly number[],
  sizeOf: (index: number) => number,
  { row, all, some }: Room,
): readonly number[] {
  const fit = (others: number): number => Math.floor((geometry.corner.height - others) / row);
  if (!large || indices.length <= fit(all)) return indices;
  const kept = [...indices].sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, Math.max(1, fit(some)));
  return indices.filter((index) => kept.includes(index));
}

/** Of keys; one more line summarises those that are left out. */
const roomOfKeys = ({ views: { A } }: ReadoutContext): Room => ({
  row: 26,
  all: A.columns.count === A.columns.of ? 78 : 112,
  some: 112,
});
const roomOfProducts: Room = { row: 22, all: 74, some: 74 };

/** A signed bar in an SVG with zero in the middle. */
function bar(value: number, most: number): TemplateResult {
  const share = (50 * Math.abs(value)) / most;
  const colour = cssColour(signed(Math.sign(value), 1, theme.current));
  return html`<svg width="100%" height="60%" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <path d="M50 0V10" stroke="var(--cf-line-strong)" stroke-width="1" vector-effect="non-scaling-stroke"/>
    <rect x=${value < 0 ? 50 - share : 50} y="0" width=${Math.max(0.3, share)} height="10" fill=${colour}/>
  </svg>`;
}

function terms(context: ReadoutContext, all: readonly Term[], hues: readonly [string, string]): TemplateResult {
  if (all.length > mostTerms)
    return barStrip(
      all.map(({ one, other }) => one * other),
      60,
    );
  const most = Math.max(...all.map(({ one, other }) => Math.abs(one * other)), 1e-9);
  const height = rowHeight(context, all.length);

  return html`<div class="terms ${height < 16 ? 'small' : ''}" ${vars({ '--row': `${height}px` })}>${all.map(
    ({
      index,
      one,
      other,
      label,
    }) => html`<div class="term ${context.product === index ? 'on' : ''}" @pointerenter=${() => context.point(index)}>
      <span class="token">${label ?? ''}</span><span class=${hues[0]}>${two(one)}</span><span class="muted">×</span><span class=${hues[1]}>${two(other)}</span><span><span class="muted">=</span> ${two(one * other)}</span>${bar(one * other, most)}
    </div>`,
  )}</div>`;
}

/** Many values as thin bars. */
function barStrip(values: readonly number[], height: number): TemplateResult {
  const most = Math.max(...values.map(Math.abs), 1e-9);
  const middle = height / 2;
  return html`<svg width="100%" height=${height} viewBox="0 0 ${values.length} ${height}" preserveAspectRatio="none" aria-hidden="true">
    <path d="M0 ${middle}H${values.length}" stroke="var(--cf-line-strong)" vector-effect="non-scaling-stroke"/>
    ${values.map((value, i) => {
      const size = (Math.abs(value) / most) * middle;
      return svg`<rect x=${i + 0.1} y=${value > 0 ? middle - size : middle} width="0.8" height=${Math.max(0.4, size)} fill=${cssColour(signed(Math.sign(value), 1, theme.current))}/>`;
    })}
  </svg>`;
}

function score(context: ReadoutContext): TemplateResult {
  const { data, stage, labels } = context;
  const { row, column } = context.at;
  const { now } = data;
  const key = rowOf(now.K, column);
  const products = Array.from(rowOf(now.Q, row), (one, index) => ({ index, one, other: key[index] ?? 0 }));
  const sizeOf = (index: number): number => Math.abs((products[index]?.one ?? 0) * (products[index]?.other ?? 0));
  const indices = products.map(({ index }) => index);
  const shown = products.length > mostTerms ? indices : fitting(context, indices, sizeOf, roomOfProducts);
  const sum = shown.length < products.length ? filled(labels.products ?? '', { n: products.length }) : labels.sum;
  const [raw, scaled, masked] = [at(now.raw, row, column), at(now.scaled, row, column), at(now.masked, row, column)];
  const added = stage === 'masked' && masked !== scaled; // by the mask, or by a bias
  return html`<h2><span class="q">${data.queries[row]}</span><span class="muted"> · </span><span class="k">${data.keys[column]}</span></h2>
    ${terms(
      context,
      products.filter(({ index }) => shown.includes(index)),
      ['q', 'k'],
    )}
    <p class="chain">${sum} ${stage === 'raw' ? html`<b>${four(raw)}</b>` : html`<span>${four(raw)}</span> ${byRoot(data) ? `÷ √${now.Q.dims[1]} =` : '→'} ${added ? html`<span>${four(scaled)}</span> → <b>${masked === Number.NEGATIVE_INFINITY ? '−∞' : four(masked)}</b>` : html`<b>${four(scaled)}</b>`}`}</p>`;
}

function weights(context: ReadoutContext): TemplateResult {
  const { data, labels, views, secretRow } = context;
  const { row, column } = context.at;
  const { now } = data;
  const title = html`<h2><span class="q">${data.queries[row]}</span><span class="muted"> ${labels.spends}</span></h2>`;
  if (row === secretRow) return title;
  const scores = rowOf(now.masked, row);
  const highest = scores.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const powers = Array.from(scores, (value) => Math.exp(value - highest));
  const { from, count } = views.A.columns;
  const seen = Array.from({ length: count }, (_, i) => from + i).filter(
    (key) => scores[key] !== Number.NEGATIVE_INFINITY,
  );
  const shown = fitting(context, seen, (key) => (key === column ? 2 : at(now.A, row, key)), roomOfKeys(context));
  const height = rowHeight(context, Math.max(1, shown.length));
  const outside = Array.from(rowOf(now.A, row)).reduce(
    (sum, share, key) =>
      key < from || key >= from + count || (seen.includes(key) && !shown.includes(key)) ? sum + share : sum,
    0,
  );
  const masked = scores[column] === Number.NEGATIVE_INFINITY;
  const total = powers.reduce((sum, power) => sum + power, 0);
  return html`${title}
    <div class="terms five ${height < 16 ? 'small' : ''}" ${vars({ '--row': `${height}px` })}>${shown.map((key) => {
      const share = at(now.A, row, key);
      const colour = cssColour(weight(Math.max(0.12, share), theme.current));
      const on = key === column ? 'on' : '';
      return html`<div class="term"><span class="token ${on}">${data.keys[key]}</span><span class=${on}>${two(scores[key] ?? 0)}</span><span class="muted">→</span><span class=${on}>${decimals(powers[key] ?? 0, 4)}</span>
        <svg width="100%" height="50%" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect x="0" y="0" width=${Math.max(0.6, 100 * (powers[key] ?? 0))} height="10" rx="1" fill=${colour}/></svg></div>`;
    })}</div>
    <p class="chain">${
      masked
        ? html`${labels.hiddenKey} <b>0</b>`
        : html`e<sup>${two(scores[column] ?? 0)} − ${two(highest)}</sup> = ${decimals(powers[column] ?? 0, 4)} ÷ ${decimals(total, 4)} = <b>${decimals(at(now.A, row, column), 4)}</b>`
    }${outside > 0.00005 ? html` · ${filled(labels.outside ?? '', { share: decimals(outside, 2) })}` : nothing}</p>`;
}

function mixture(context: ReadoutContext): TemplateResult {
  const { data, labels, secretRow, views } = context;
  const { row, column } = context.at;
  const { now } = data;
  const title = html`<h2><span class="q">${data.queries[row]}</span><span class="muted"> ${labels.takes} </span><span class="v">${column + 1}</span></h2>`;
  if (row === secretRow) return title;
  const { from, count } = views.A.columns;
  const seen = Array.from({ length: count }, (_, i) => from + i).filter(
    (key) => at(now.masked, row, key) !== Number.NEGATIVE_INFINITY,
  );
  const shown = fitting(context, seen, (key) => at(now.A, row, key), roomOfKeys(context));
  const products = shown.map((index) => ({
    index,
    one: at(now.A, row, index),
    other: at(now.V, index, column),
    label: data.keys[index] ?? '',
  }));
  const part =
    shown.length < Array.from(rowOf(now.masked, row)).filter((value) => value !== Number.NEGATIVE_INFINITY).length;
  return html`${title}${terms(context, products, ['', 'v'])}
    <p class="chain">${part ? labels.sumAll : labels.sum} <b>${four(at(now.Z, row, column))}</b></p>`;
}

function projected(context: ReadoutContext): TemplateResult {
  const { data, labels, large } = context;
  const { matrix, row, column } = context.at;
  const name = matrix as 'Q' | 'K' | 'V';
  const hue = name.toLowerCase();
  const label = name === 'Q' ? data.queries[row] : data.keys[row];
  const value = at(data.now[name], row, column);
  const edited = context.views[name].edited?.(
    row - context.views[name].rows.from,
    column - context.views[name].columns.from,
  );
  const width = data.now[name].dims[1];
  return html`<h2><span class=${hue}>${label}</span><span class="muted"> ${filled(labels.number ?? '', { matrix: name, n: column + 1, of: width ?? 0 })}</span></h2>
    ${data.hooks ? projection(context, name, hue) : html`<p class="chain"><b>${four(value)}</b></p>`}
    <p class="chain">${edited ? html`${labels.youSet} <b class="a">${four(value)}</b>` : large ? nothing : labels.clickAgain}</p>`;
}

/** x · w: the token's row of the stream, the column of weights, their products. */
function projection(
  { data, labels, projections, at: chosen, geometry, large }: ReadoutContext,
  name: 'Q' | 'K' | 'V',
  hue: string,
): TemplateResult {
  const { row, column } = chosen;
  const { hooks, input, projected: made, before } = data;
  if (!hooks || !input || !made) return html``;
  const pre = at(made[name], row, column);
  const turned = hooks[name === 'Q' ? 'q' : name === 'K' ? 'k' : 'v'] !== hooks.plain[name];
  const width = input.dims[1] ?? 0;
  const x = input.slice(row);
  const w = projections && columnOf(projections[name], column, width);
  const bias = projections ? at(projections[name], width, column) : 0;
  const products = w ? Array.from(x.data, (value, i) => value * ((w.data[i] ?? 0) - bias)) : undefined;
  const cell = Math.max(0.5, (geometry.corner.width - 40) / width);
  const strip = (symbol: string, from: Numbers, source: string, tint: string): TemplateResult =>
    html`<div class="strip"><i class=${tint}>${symbol}</i><cf-matrix caption="none" .numbers=${from} source=${source} .cellWidth=${cell} .cellHeight=${14} label=${symbol}></cf-matrix></div>`;
  const head = name === 'Q' ? hooks.head : hooks.kvHead;
  return html`${strip('x', x, `${hooks.input}[0, ${row}]`, 's')}
    ${w ? strip('w', w, `${hooks.plain[name]}[0, :, ${head}, ${column}] with ${hooks.input} = identity`, hue) : html`<p class="muted">…</p>`}
    ${products && !(large && geometry.corner.height < 215) ? html`<div class="strip"><i></i>${barStrip(products, 40)}</div>` : nothing}
    <p class="chain">${filled(labels.products ?? '', { n: width })} ${bias === 0 ? nothing : html`${filled(labels.bias ?? '', { bias: four(bias) })} `}${turned ? html`<span>${four(pre)}</span>` : html`<b>${four(pre)}</b>`}</p>
    ${turned && name !== 'V' ? html`<p class="chain">${filled((hooks.normed ? labels.normedTurned : labels.turned) ?? '', { place: row })} <b>${four(at(before[name], row, column))}</b></p>` : nothing}`;
}

/** A column of the weights without the bias, which is the last row. */
const columnOf = ({ dims, data }: Float, column: number, count: number): Numbers => ({
  dims: [count],
  data: Float32Array.from({ length: count }, (_, i) => data[i * (dims[1] ?? 0) + column] ?? 0),
});
