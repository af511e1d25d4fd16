// <pixel-matrix>: a matrix too large for cells, with a pixel for each value, between brackets.

import type { Drawn, Numbers } from 'clearformer/elements';
import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { ThemeColours } from './controllers.js';
import { forcedColours } from './figure_styles.js';
import { paint, usualBound } from './pixels.js';

class PixelMatrix extends LitElement implements Drawn {
  static override properties: PropertyDeclarations = {
    numbers: { attribute: false },
    source: {},
    label: {},
  };
  /** [rows, columns]. */
  declare numbers: Numbers | undefined;
  declare source: string;
  declare label: string;

  static override styles = css`
    :host { display: block; position: relative; padding: 3px 8px; max-width: 100%; box-sizing: border-box; }
    canvas { display: block; width: 100%; height: 100%; image-rendering: pixelated; }
    span { position: absolute; inset: 0 auto 0 0; width: 5px; border: solid var(--cf-ink); border-width: 2px 0 2px 2px; }
    span:last-child { inset: 0 0 0 auto; border-width: 2px 2px 2px 0; }
    ${forcedColours}
  `;

  constructor() {
    super();
    new ThemeColours(this);
    this.source = '';
    this.label = '';
  }

  protected override render(): TemplateResult {
    return html`<canvas role="img" aria-label=${this.label}></canvas><span></span><span></span>`;
  }

  protected override updated(): void {
    const canvas = this.renderRoot.querySelector('canvas');
    if (!canvas || !this.numbers) return;
    const { data, dims } = this.numbers;
    const values = Float32Array.from(data);
    paint(canvas, values, dims.at(-1) ?? 1, usualBound(values));
  }
}

customElements.define('pixel-matrix', PixelMatrix);
