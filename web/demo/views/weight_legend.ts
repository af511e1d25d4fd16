// The legend of the colour scale: weights from 0 to 1, and the choice of how they are spread over the colours.

import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import { type ColourScale, cssColour, rampIndex, type Spread } from '../state/colour_scale.js';
import { shared } from './styles.js';

const tickValues: Record<Spread, readonly number[]> = { even: [0, 0.25, 0.5, 0.75, 1], root: [0, 0.05, 0.25, 0.5, 1] };

export class WeightLegend extends LitElement {
  static override properties: PropertyDeclarations = {
    scale: { attribute: false },
  };
  declare scale: ColourScale;

  static override styles = [
    shared,
    css`
      .row { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 18px; font-size: 0.82rem; color: var(--muted); }
      .scale { flex: 1 1 200px; max-width: 320px; padding: 0 6px; }
      .ramp { height: 10px; border-radius: 3px; border: 1px solid var(--line); }
      .ticks { position: relative; height: 18px; }
      .ticks span { position: absolute; translate: -50%; }
      label { display: inline-flex; align-items: center; gap: 6px; min-height: 24px; }
    `,
  ];

  override render(): TemplateResult {
    const { spread } = this.scale;
    const place = (weight: number): number => (rampIndex(spread, weight) / 255) * 100;
    const colours = Array.from({ length: 17 }, (_, i) =>
      cssColour(this.scale, spread === 'root' ? (i / 16) ** 2 : i / 16),
    );
    return html`<div class="row">
      <span>weight</span>
      <div class="scale" role="img" aria-label="Colour scale of attention weights from 0 to 1">
        <div class="ramp" style=${styleMap({ background: `linear-gradient(to right, ${colours.join(', ')})` })}></div>
        <div class="ticks number">${tickValues[spread].map((tick) => html`<span style=${styleMap({ left: `${place(tick)}%` })}>${tick}</span>`)}</div>
      </div>
      <label><input type="checkbox" .checked=${spread === 'root'} @change=${this.#change} />lift small weights</label>
    </div>`;
  }

  #change(event: Event): void {
    const spread: Spread = (event.target as HTMLInputElement).checked ? 'root' : 'even';
    this.dispatchEvent(new CustomEvent<Spread>('spread-change', { detail: spread }));
  }
}

customElements.define('weight-legend', WeightLegend);
