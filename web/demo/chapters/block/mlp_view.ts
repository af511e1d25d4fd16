// The feed-forward network at one token: each neuron a dot on the activation function's curve, and its values as
// strips.

import { four, two } from 'clearformer/elements';
import { html, svg, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { within } from '../../book/within.js';
import type { Data, FigureBlock } from './figure.js';
import { type Curve, curves, type Neurons } from './neurons.js';
import type { CellEvent } from './tensor_view.js';

const plot = { width: 460, height: 250, left: 34, right: 12, top: 12, bottom: 26 };

export function mlpView(figure: FigureBlock, { reading, neurons }: Data): TemplateResult {
  if (!neurons) return html``;
  const { labels } = figure.words;
  const { stack, layer, focus, tokens, shape } = reading;
  const at = `${stack}.${layer}.mlp`;
  const { pre, post, linear, curve, own } = neurons;
  const count = pre.size;
  const chosen = within(figure.number('n'), count);
  const room = figure.narrow ? figure.width - 30 : figure.width - (figure.width >= 1000 ? 290 : 0) - plot.width - 60;
  const cell = Math.max(1.5, Math.min(6, room / count));
  const strip = (
    label: string,
    about: string,
    source: string,
    numbers: { dims: readonly number[]; data: Float32Array },
  ): TemplateResult =>
    html`<cf-matrix label=${label} about=${about} source=${source} .numbers=${{ dims: [1, count], data: numbers.data }} .cellWidth=${cell} .cellHeight=${24} .selected=${{ row: 0, column: chosen }}
      @cell-select=${({ detail }: CellEvent) => detail && figure.choose({ n: String(detail.column) })}></cf-matrix>`;
  return html`<div class="side-by-side">
    <div>
      <div class="controls small"><div class="seg" role="group" aria-label=${labels.curve}><span>${labels.curve}</span>${curves.map((one) => html`<button type="button" aria-pressed=${one === curve} @click=${() => figure.choose({ act: one })}>${labels[one]}${one === own ? ' ●' : ''}</button>`)}</div></div>
      ${scatter(figure, neurons, chosen)}
      <p class="verdict">● ${labels.ownCurve}</p>
    </div>
    <div class="rest">
      <p class="caption">${filled(labels.neuronsOf, { n: count, token: tokens[focus]?.label ?? '', width: shape.model })}</p>
      ${strip('a', labels.pre, `${at}.hook_pre[0, ${focus}]`, pre)}
      ${linear ? strip('b', labels.linear, `${at}.hook_pre_linear[0, ${focus}]`, linear) : ''}
      ${curve === own ? strip('h', labels.post, `${at}.hook_post[0, ${focus}]`, post) : strip('h', filled(labels.postOther, { curve: labels[curve] }), `${curve}(${at}.hook_pre[0, ${focus}])`, neurons.bent)}
      <p class="readout">${readout(figure, neurons, chosen)}</p>
      <p class="verdict">${filled(labels.onShare, { on: !figure.revealed ? '?' : pre.data.filter((x) => x > 0).length, n: count })}</p>
    </div>
  </div>`;
}

function readout(figure: FigureBlock, { pre, linear, bent, post, curve, own }: Neurons, n: number): TemplateResult {
  const { labels } = figure.words;
  const value = (row: { data: Float32Array } | undefined): number => row?.data[n] ?? 0;
  const start = html`${filled(labels.neuron, { n: n + 1 })}: ${labels[curve]}(${two(value(pre))}) = ${four(value(bent))}`;
  if (!linear || curve !== own) return start;
  return html`${start} × ${two(value(linear))} = <b>${four(value(post))}</b>`;
}

/** Small dots, since they overlap; a dot's coordinates are the neuron's pre-activation and its activation. */
function scatter(figure: FigureBlock, { pre, bent, linear, xs, ys, curve }: Neurons, chosen: number): TemplateResult {
  const width = figure.narrow ? Math.max(0, Math.min(plot.width, figure.width - 8)) : plot.width;
  const { height, left, right, top, bottom } = plot;
  const reach = xs.data.at(-1) ?? 3;
  const lowest = Math.min(-0.5, ...Array.from(ys[curve].data));
  const x = (value: number): number => left + ((value + reach) / (2 * reach)) * (width - left - right);
  const y = (value: number): number => top + (1 - (value - lowest) / (reach - lowest)) * (height - top - bottom);
  const line = (one: Curve): string =>
    Array.from(xs.data, (at, i) => `${x(at).toFixed(1)} ${y(ys[one].data[i] ?? 0).toFixed(1)}`).join('L');
  const sizes = linear ? Array.from(linear.data, Math.abs) : [];
  const most = Math.max(1e-9, ...sizes);
  const ticks = [-reach, 0, reach];
  return html`<svg class="plot" width=${width} height=${height} role="img" aria-label=${filled(figure.words.labels.plotName, { curve: figure.words.labels[curve], n: pre.size })}>
    <path class="axis" d="M${left} ${y(0)}H${width - right}M${x(0)} ${top}V${height - bottom}" />
    ${ticks.map((tick) => svg`<text class="muted" x=${x(tick)} y=${height - 8} text-anchor="middle">${two(tick).replace(/\.00$/, '')}</text>`)}
    <text class="muted" x=${left - 6} y=${y(reach) + 10} text-anchor="end">${reach}</text>
    ${curves.map((one) => svg`<path class="curve ${one === curve ? 'on' : ''}" d="M${line(one)}" />`)}
    ${Array.from(figure.revealed ? pre.data : [], (value, i) => svg`<circle class="dot ${i === chosen ? 'here' : ''}" cx=${x(value)} cy=${y(bent.data[i] ?? 0)} r=${linear ? 2 + (4 * (sizes[i] ?? 0)) / most : 3} @click=${() => figure.choose({ n: String(i) })}><title>${i + 1}: ${two(value)} → ${two(bent.data[i] ?? 0)}</title></circle>`)}
  </svg>`;
}
