// <patch-dots>: weights over the patches of an image as dots on a scale of their own: the area of a dot is the weight.

import type { Drawn, Numbers } from 'clearformer/elements';
import { css, html, LitElement, type PropertyDeclarations, svg, type TemplateResult } from 'lit';

class PatchDots extends LitElement implements Drawn {
  static override properties: PropertyDeclarations = {
    numbers: { attribute: false },
    source: {},
    most: { type: Number },
    framed: { type: Boolean },
  };
  /** [rows, columns]. */
  declare numbers: Numbers | undefined;
  declare source: string;
  /** The weight of a dot as large as a patch. */
  declare most: number;
  /** Draws the image's border, if there is no image below. */
  declare framed: boolean;

  static override styles = css`
    :host { display: block; aspect-ratio: 1; }
    svg { display: block; width: 100%; height: 100%; }
    circle { fill: var(--cf-accent); }
    rect { fill: none; stroke: var(--cf-line); stroke-width: 0.06; }
    .over circle { fill-opacity: 0.82; stroke: var(--cf-raised); stroke-width: 0.05; }
  `;

  constructor() {
    super();
    this.source = '';
    this.most = 1;
    this.framed = false;
  }

  protected override render(): TemplateResult {
    const [rows = 0, columns = 0] = this.numbers?.dims ?? [];
    const dots = Array.from({ length: rows * columns }, (_, i) => {
      const share = Math.max(0, Math.min(1, (this.numbers?.data[i] ?? 0) / this.most));
      return svg`<circle cx=${(i % columns) + 0.5} cy=${Math.floor(i / columns) + 0.5} r=${0.47 * Math.sqrt(share)}></circle>`;
    });
    return html`<svg class=${this.framed ? '' : 'over'} viewBox="0 0 ${columns} ${rows}" aria-hidden="true">
      ${this.framed ? svg`<rect width=${columns} height=${rows}></rect>` : ''}${dots}</svg>`;
  }
}

customElements.define('patch-dots', PatchDots);
