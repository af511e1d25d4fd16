// Curves over the steps of training: a line for each series, and a dashed line to compare them with.

import type { Numbers } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, svg, type TemplateResult } from 'lit';
import { OwnWidth } from '../../../book/controllers.js';
import { figureStyles } from '../../../book/figure_styles.js';
import { headStyles } from '../head_styles.js';

export interface Series {
  readonly name: string;
  /** The class of its colour: that of a head, or `first` and `second`. */
  readonly hue: string;
  /** A value for each step. */
  readonly values: readonly number[];
}

class TrainingCurves extends LitElement {
  static override properties: PropertyDeclarations = {
    steps: { attribute: false },
    end: { type: Number },
    series: { attribute: false },
    most: { type: Number },
    beside: { attribute: false },
    height: { type: Number },
    source: {},
    label: {},
    axis: {},
    minFont: { type: Number },
  };
  declare steps: readonly number[];
  /** The step at the right edge. */
  declare end: number;
  declare series: readonly Series[];
  /** The value at the top. */
  declare most: number;
  /** A value to compare with, as a dashed line. */
  declare beside: number | undefined;
  /** CSS pixels. */
  declare height: number;
  declare source: string;
  declare label: string;
  /** The name of the axis of steps. */
  declare axis: string;
  /** Minimum font size in CSS pixels; 0: default sizes. */
  declare minFont: number;
  readonly #box = new OwnWidth(this);

  static override styles = [
    figureStyles,
    headStyles,
    css`
      path { fill: none; }
      .grid { stroke: var(--cf-line); }
      .line { stroke: var(--head); stroke-width: 2; stroke-linejoin: round; }
      .end { fill: var(--head); }
      .beside { stroke: var(--cf-muted); stroke-dasharray: 4 4; }
      .first { --head: var(--cf-stream); }
      .second { --head: var(--cf-accent); }
    `,
  ];

  constructor() {
    super();
    Object.assign(this, { steps: [], series: [], end: 1, most: 1, height: 160, minFont: 0 });
  }

  /** [point, 1 + series]: the step, then the values. */
  get numbers(): Numbers {
    const data = this.steps.flatMap((step, at) => [step, ...this.series.map(({ values }) => values[at] ?? Number.NaN)]);
    return { dims: [this.steps.length, 1 + this.series.length], data: Float32Array.from(data) };
  }

  protected override render(): TemplateResult | typeof nothing {
    const { width } = this.#box;
    const { height, most, end } = this;
    if (width < 60) return nothing;
    const text = Math.max(12.5, this.minFont);
    const [left, right, top, bottom] = [2.1 * text, 8, 0.6 * text, 1.5 * text];
    const x = (step: number): number => left + ((width - left - right) * step) / Math.max(1, end);
    const y = (value: number): number => top + ((height - top - bottom) * (most - Math.min(most, value))) / most;
    const step = tick(most);
    const apart = step * Math.max(1, Math.ceil((1.1 * text) / (y(0) - y(step)))); // labels do not overlap
    const marks = Array.from({ length: Math.floor(most / apart) + 1 }, (_, i) => i * apart);
    const path = (values: readonly number[]): string =>
      values.map((value, at) => `${at === 0 ? 'M' : 'L'}${x(this.steps[at] ?? 0)} ${y(value)}`).join('');
    return html`<svg width=${width} height=${height} role="img" aria-label=${this.label}>
      ${marks.map((mark) => svg`<path class="grid" d="M${left} ${y(mark)}H${width - right}"/><text class="muted" x=${left - 0.5 * text} y=${y(mark) + 0.35 * text} text-anchor="end">${mark}</text>`)}
      <text class="muted" x=${left} y=${height - 0.25 * text}>0</text>
      <text class="muted" x=${width - right} y=${height - 0.25 * text} text-anchor="end">${end} ${this.axis}</text>
      ${this.beside === undefined ? nothing : svg`<path class="beside" d="M${left} ${y(this.beside)}H${width - right}"/>`}
      ${this.series.map(({ hue, values }) => svg`<g class=${hue}><path class="line" d=${path(values)}/>${values.length === 0 ? nothing : svg`<circle class="end" r="3.5" cx=${x(this.steps.at(-1) ?? 0)} cy=${y(values.at(-1) ?? 0)}/>`}</g>`)}
    </svg>`;
  }
}

/** The distance of grid lines, for three to six of them. */
const tick = (most: number): number => (most > 2 ? 1 : 0.5);

customElements.define('training-curves', TrainingCurves);
