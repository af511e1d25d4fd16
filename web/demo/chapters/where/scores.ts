// <where-scores>: a bar for each distance between query and key, with the current distance marked.

import type { Numbers } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, svg, type TemplateResult } from 'lit';
import { OwnWidth } from '../../book/controllers.js';
import { figureStyles } from '../../book/figure_styles.js';

class WhereScores extends LitElement {
  static override properties: PropertyDeclarations = {
    numbers: { attribute: false },
    source: {},
    label: {},
    axis: {},
    current: { type: Number },
    tall: { type: Number },
  };
  declare numbers: Numbers | undefined;
  declare source: string;
  declare label: string;
  /** The axis's label. */
  declare axis: string;
  /** The index of the highlighted bar; out of range: none. */
  declare current: number;
  /** The height of the bars in CSS pixels, where there is room. */
  declare tall: number;
  readonly #box = new OwnWidth(this, 860);

  static override styles = [
    figureStyles,
    css`:host { min-height: 60px; } text { font-size: max(11px, var(--cf-min-font-size)); } .a { fill: var(--cf-accent); font-weight: 600; }`,
  ];

  constructor() {
    super();
    this.current = -1;
    this.tall = 90;
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.numbers || this.#box.width < 60) return nothing;
    const values = Array.from(this.numbers.data, Number);
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    const height = this.#box.width < 520 ? 50 : this.tall;
    const y = (value: number): number => 4 + ((high - value) / (high - low || 1)) * height;
    const step = this.#box.width / values.length;
    const colour = (at: number): string => (at === this.current ? 'var(--cf-accent)' : 'var(--cf-line-strong)');
    return html`<svg width=${this.#box.width} height=${height + 26} role="img" aria-label=${this.label}>
      ${values.map((value, at) => svg`<rect x=${at * step + 1} y=${Math.min(y(0), y(value))} width=${Math.max(1, step - 2)} height=${Math.max(1, Math.abs(y(value) - y(0)))} fill=${colour(at)} opacity=${at === this.current ? 1 : 0.6}/>`)}
      <path d="M0 ${y(0)}H${this.#box.width}" stroke="var(--cf-line-strong)"/>
      ${values.map((_, at) => (at % 5 === 0 || at === this.current ? svg`<text class=${at === this.current ? 'a' : 'muted'} x=${(at + 0.5) * step} y=${height + 20} text-anchor="middle">${at === this.current || Math.abs(at - this.current) > 2 ? at : ''}</text>` : nothing))}
    </svg>`;
  }
}

customElements.define('where-scores', WhereScores);
