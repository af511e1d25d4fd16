// A log-log plot: measured times over length as dots, and lines with the slope that theory predicts.

import type { Numbers } from 'clearformer/elements';
import { decimals } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, svg, type TemplateResult } from 'lit';
import { OwnWidth } from '../../book/controllers.js';
import { figureStyles } from '../../book/figure_styles.js';
import type { Point } from './timing.js';

export interface Series {
  readonly name: string;
  readonly hue: 'q' | 'k' | 'v';
  readonly points: readonly Point[];
  /** Multiplications at each length; the line is scaled to pass through the last point. */
  readonly work: readonly number[];
}

class CostPlot extends LitElement {
  static override properties: PropertyDeclarations = {
    series: { attribute: false },
    lengths: { attribute: false },
    source: {},
    labels: { attribute: false },
    minFont: { type: Number },
  };
  declare series: readonly Series[];
  declare lengths: readonly number[];
  declare source: string;
  declare labels: Readonly<Record<string, string>>;
  /** Minimum font size in CSS pixels; 0: default sizes. */
  declare minFont: number;
  readonly #box = new OwnWidth(this);

  static override styles = [
    figureStyles,
    css`
      .curve { fill: none; stroke-width: 1.5; opacity: 0.55; stroke-dasharray: 4 4; }
      .name { font: max(15px, var(--cf-min-font-size)) var(--cf-serif); }
      .grid { stroke: var(--cf-line); }
    `,
  ];

  constructor() {
    super();
    this.minFont = 0;
  }

  /** Milliseconds, [layer, length]; NaN where not measured. */
  get numbers(): Numbers | undefined {
    if (!this.series) return undefined;
    const data = this.series.flatMap(({ points }) =>
      this.lengths.map((n) => points.find((point) => point.n === n)?.milliseconds ?? Number.NaN),
    );
    return { dims: [this.series.length, this.lengths.length], data };
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.#box.width < 100 || !this.series) return nothing;
    const large = this.minFont > 0;
    const [left, bottom, top] = large ? [96, 70, 44] : [56, 40, 16];
    const height = Math.min(large ? 520 : 460, this.#box.width * 0.62);
    const right = this.#box.width < 500 ? 12 : large ? 190 : 150;
    const text = Math.max(12.5, this.minFont);
    const all = this.series.flatMap(({ points }) => points.map(({ milliseconds }) => Math.max(milliseconds, 1e-3)));
    const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))];
    const [first = 1, last = 2] = [this.lengths[0], this.lengths.at(-1)];
    const x = (n: number): number =>
      left + ((this.#box.width - left - right) * Math.log(n / first)) / Math.log(last / first);
    const y = (ms: number): number =>
      top + ((height - top - bottom) * (high - Math.log10(Math.max(ms, 1e-3)))) / Math.max(1, high - low);
    const decades = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
    return html`<svg width=${this.#box.width} height=${height} role="img" aria-label=${this.labels.plot}>
      ${decades.map((ms) => svg`<path class="grid" d="M${left} ${y(ms)}H${this.#box.width - right}"/><text class="muted" x=${left - 8} y=${y(ms) + 0.32 * text} text-anchor="end">${ms >= 1 ? ms : decimals(ms, -Math.round(Math.log10(ms)))}</text>`)}
      ${this.lengths.map((n) => svg`<text class="muted" x=${x(n)} y=${height - bottom + 7.5 + text} text-anchor="middle">${n}</text>`)}
      <text class="muted" x=${left} y=${height - 4}>${this.labels.tokens}</text>
      <text class="muted" x="0" y=${top - (large ? 18 : 4)}>ms</text>
      ${this.series.map((series) => this.#series(series, x, y, right))}
    </svg>`;
  }

  #series(
    { name, hue, points, work }: Series,
    x: (n: number) => number,
    y: (ms: number) => number,
    right: number,
  ): TemplateResult | typeof nothing {
    const end = points.at(-1);
    if (!end) return nothing;
    const workOf = (n: number): number => work[this.lengths.indexOf(n)] ?? Number.NaN;
    const curve = points.map(({ n }) => `${x(n)} ${y((end.milliseconds * workOf(n)) / workOf(end.n))}`).join('L');
    return svg`<g>
      <path class="curve" d="M${curve}" stroke="var(--cf-${hue})"/>
      ${points.map(({ n, milliseconds }) => svg`<circle cx=${x(n)} cy=${y(milliseconds)} r="4.5" fill="var(--cf-${hue})"><title>${name}, n = ${n}: ${decimals(milliseconds, 3)} ms</title></circle>`)}
      ${right < 100 ? nothing : svg`<text x=${x(end.n) + 12} y=${y(end.milliseconds) + (this.minFont > 0 ? 8 : 5)} class="name ${hue}">${name}</text>`}
    </g>`;
  }
}

customElements.define('cost-plot', CostPlot);
