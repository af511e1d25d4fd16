// A log-log plot: measured times over length as dots, and lines with the slope that theory predicts.

import type { Numbers } from 'clearformer/elements';
import { decimals } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, svg, type TemplateResult } from 'lit';
import { OwnWidth } from '../../book/controllers.js';
import { figureStyles } from '../../book/figure_styles.js';
import type { Point } from './timing.js';

export interface Series {
  readonly name: string;
  readonly hue: 'q' | 'k' | 'v' | 'stream';
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
    mostHeight: { type: Number },
  };
  declare series: readonly Series[];
  declare lengths: readonly number[];
  declare source: string;
  declare labels: Readonly<Record<string, string>>;
  /** Minimum font size in CSS pixels; 0: default sizes. */
  declare minFont: number;
  /** CSS pixels. */
  declare mostHeight: number;
  readonly #box = new OwnWidth(this);

  static override styles = [
    figureStyles,
    css`
      .curve { fill: none; stroke-width: 1.5; opacity: 0.55; stroke-dasharray: 4 4; }
      svg .name { font: max(15px, var(--cf-min-font-size)) var(--cf-serif); fill: currentColor; stroke: var(--cf-paper); stroke-width: 4; paint-order: stroke; }
      circle.hollow { fill: var(--cf-paper); stroke-width: 2; }
      .legend { display: flex; flex-wrap: wrap; gap: 0 14px; margin: 0 0 4px; padding: 0; list-style: none; }
      .legend svg { display: inline; margin-right: 6px; }
      .grid { stroke: var(--cf-line); }
    `,
  ];

  constructor() {
    super();
    this.minFont = 0;
    this.mostHeight = 460;
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
    const [left, bottom, top] = large ? [96, 70, 44] : [56, 40, 26];
    const height = Math.min(this.mostHeight, this.#box.width * 0.62);
    const right = this.#box.width < 500 ? 12 : large ? 225 : 150;
    const text = Math.max(12.5, this.minFont);
    const all = this.series.flatMap(({ points }) => points.map(({ milliseconds }) => Math.max(milliseconds, 1e-3)));
    const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))];
    const [first = 1, last = 2] = [this.lengths[0], this.lengths.at(-1)];
    const x = (n: number): number =>
      left + ((this.#box.width - left - right) * Math.log(n / first)) / Math.log(last / first);
    const y = (ms: number): number =>
      top + ((height - top - bottom) * (high - Math.log10(Math.max(ms, 1e-3)))) / Math.max(1, high - low);
    const decades = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
    const shown = this.series.filter(({ points }) => points.length > 0);
    const told = shown.flatMap((series) => series.points.map((point) => tellOf(series, point)));
    const line = 1.3 * Math.max(15, this.minFont);
    const ends = apart(
      shown.map(({ points }) => ({ x: points.at(-1)?.n ?? 1, y: y(points.at(-1)?.milliseconds ?? 0) })),
      line,
    );
    return html`${right < 100 ? legend(shown) : nothing}<svg width=${this.#box.width} height=${height} role="img" aria-label=${[this.labels.plot, ...told].join('; ')}>
      ${decades.map((ms) => svg`<path class="grid" d="M${left} ${y(ms)}H${this.#box.width - right}"/><text class="muted" x=${left - 8} y=${y(ms) + 0.32 * text} text-anchor="end">${ms >= 1 ? ms : decimals(ms, -Math.round(Math.log10(ms)))}</text>`)}
      ${this.lengths.map((n) => svg`<text class="muted" x=${x(n)} y=${height - bottom + 7.5 + text} text-anchor="middle">${n}</text>`)}
      <text class="muted" x=${left} y=${height - 4}>${this.labels.tokens}</text>
      <text class="muted" x="0" y=${top - (large ? 18 : 13)}>ms</text>
      ${shown.map((series) => marks(series, this.lengths, x, y, height - bottom))}
      ${right < 100 ? nothing : shown.map(({ name, hue, points }, i) => svg`<text x=${x(points.at(-1)?.n ?? 1) + 12} y=${(ends[i] ?? 0) + (large ? 8 : 5)} class="name ${classOf(hue)}">${name}</text>`)}
    </svg>`;
  }
}

const classOf = (hue: Series['hue']): string => (hue === 'stream' ? 's' : hue);

/** A dot is hollow where it is another program's. */
const dot = (hue: Series['hue'], x: number, y: number, title?: string): TemplateResult =>
  svg`<circle cx=${x} cy=${y} r="4.5" class=${hue === 'stream' ? 'hollow' : ''} fill="var(--cf-${hue})" stroke=${hue === 'stream' ? `var(--cf-${hue})` : nothing}>${title ? svg`<title>${title}</title>` : nothing}</circle>`;

/** The names where there is no room for them beside the curves. */
const legend = (series: readonly Series[]): TemplateResult =>
  html`<ul class="legend">${series.map(({ name, hue }) => html`<li class=${classOf(hue)}><svg width="12" height="12" aria-hidden="true">${dot(hue, 6, 6)}</svg>${name}</li>`)}</ul>`;

interface Place {
  readonly x: number;
  readonly y: number;
}

/** The heights of labels at these places, moved down until those at the same x are at least `least` apart. */
function apart(places: readonly Place[], least: number): number[] {
  const moved = places.map(({ y }) => y);
  const above = new Map<number, number>();
  for (const [at, { x, y }] of [...places.entries()].sort(([, one], [, other]) => one.y - other.y)) {
    moved[at] = Math.max(y, (above.get(x) ?? Number.NEGATIVE_INFINITY) + least);
    above.set(x, moved[at]);
  }
  return moved;
}

/** The part of a rising line that is not below `floor`, as a path's data. */
function clipped(places: readonly Place[], floor: number): string {
  const inside = places.flatMap((place, i) => {
    if (place.y > floor) return [];
    const before = places[i - 1];
    if (!before || before.y <= floor) return [place];
    const share = (floor - place.y) / (before.y - place.y);
    return [{ x: place.x + share * (before.x - place.x), y: floor }, place];
  });
  return inside.length > 0 ? `M${inside.map(({ x, y }) => `${x} ${y}`).join('L')}` : '';
}

type Scale = (value: number) => number;

const tellOf = ({ name }: Series, { n, milliseconds }: Point): string =>
  `${name}, n = ${n}: ${decimals(milliseconds, 3)} ms`;

function marks(series: Series, lengths: readonly number[], x: Scale, y: Scale, floor: number): TemplateResult {
  const { hue, points, work } = series;
  const end = points.at(-1);
  const workOf = (n: number): number => work[lengths.indexOf(n)] ?? Number.NaN;
  const curve = points.map(({ n }) => ({
    x: x(n),
    y: y(((end?.milliseconds ?? 0) * workOf(n)) / workOf(end?.n ?? 0)),
  }));
  return svg`<g>
    <path class="curve" d=${clipped(curve, floor)} stroke="var(--cf-${hue})"/>
    ${points.map((point) => dot(hue, x(point.n), y(point.milliseconds), tellOf(series, point)))}
  </g>`;
}

customElements.define('cost-plot', CostPlot);
