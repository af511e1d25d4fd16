// Classes with their probabilities as bars, in the order given; the best one stands out.

import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import { percent } from '../state/format.js';
import type { ClassScore } from '../state/image_model.js';
import { shared } from './styles.js';

export class ScoreBars extends LitElement {
  static override properties: PropertyDeclarations = {
    classes: { attribute: false },
  };
  declare classes: readonly ClassScore[];

  static override styles = [
    shared,
    css`
      dl { display: grid; grid-template-columns: fit-content(40%) minmax(40px, 1fr) auto; gap: 5px 10px; margin: 8px 0 0; align-items: center; }
      dt { overflow-wrap: anywhere; }
      dd { margin: 0; }
      .bar { height: 9px; min-width: 1px; border-radius: 2px; background: var(--bar-model); }
      .best { font-weight: 700; }
      .best .bar { background: var(--bar-draw); }
      .share { text-align: right; }
    `,
  ];

  constructor() {
    super();
    this.classes = [];
  }

  override render(): TemplateResult {
    const most = Math.max(...this.classes.map(({ score }) => score));
    return html`<dl>${this.classes.map(({ label, score }) => {
      const best = score === most ? 'best' : '';
      return html`<dt class=${best}>${label}</dt>
        <dd class=${best} aria-hidden="true"><div class="bar" style=${styleMap({ width: `${Math.max(0, Math.min(1, score)) * 100}%` })}></div></dd>
        <dd class="share number ${best}" data-score=${score}>${percent(score)}</dd>`;
    })}</dl>`;
  }
}

customElements.define('score-bars', ScoreBars);
