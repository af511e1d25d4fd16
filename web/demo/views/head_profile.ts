// Where the chosen head looks on average: four shares of its attention over the text so far.

import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import { percent } from '../state/format.js';
import type { HeadProfile } from '../state/head_profile.js';
import { shared } from './styles.js';

export class HeadProfileView extends LitElement {
  static override properties: PropertyDeclarations = {
    profile: { attribute: false },
  };
  declare profile: HeadProfile | undefined;

  static override styles = [
    shared,
    css`
      dl { display: grid; grid-template-columns: auto minmax(40px, 1fr) auto; gap: 5px 10px; margin: 8px 0 0; font-size: 0.87rem; align-items: center; }
      dt { color: var(--muted); }
      dd { margin: 0; }
      .bar { height: 8px; border-radius: 2px; background: var(--bar-draw); }
      .share { text-align: right; }
    `,
  ];

  override render(): TemplateResult | typeof nothing {
    const { profile } = this;
    if (!profile || profile.rows === 0) return nothing;
    const line = (name: string, share: number): TemplateResult => html`
      <dt>${name}</dt>
      <dd aria-hidden="true"><div class="bar" style=${styleMap({ width: `${share * 100}%` })}></div></dd>
      <dd class="share number">${percent(share)}</dd>`;
    return html`
      <h3>Where this head looks</h3>
      <dl>
        ${line('the token before', profile.previous)} ${line('the token itself', profile.self)}
        ${line('the first token', profile.first)} ${line('elsewhere', profile.elsewhere)}
      </dl>`;
  }
}

customElements.define('head-profile', HeadProfileView);
