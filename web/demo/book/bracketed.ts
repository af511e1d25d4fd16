// <book-bracketed>: a small matrix in brackets, as in mathematical notation.

import type { Numbers } from 'clearformer/elements';
import { decimals } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { vars } from './vars.js';

class BookBracketed extends LitElement {
  static override properties: PropertyDeclarations = {
    numbers: { attribute: false },
    source: {},
    label: {},
    digits: { type: Number },
    wrongRow: { type: Number },
    secret: { type: Boolean },
  };
  declare numbers: Numbers | undefined;
  declare source: string;
  /** The accessible name. */
  declare label: string;
  /** Decimals; default 2. */
  declare digits: number;
  /** Index of a row marked as wrong. */
  declare wrongRow: number;
  /** Whether the values are hidden. */
  declare secret: boolean;

  static override styles = css`
    :host { display: inline-block; vertical-align: middle; }
    .brackets { display: inline-grid; grid-template-columns: repeat(var(--columns), auto); gap: 2px 0.85em; padding: 0.28em 0.55em; border: solid currentColor; border-width: 0 1.5px; border-radius: 7px; justify-items: end; white-space: nowrap; font-variant-numeric: tabular-nums; }
    .wrong { color: var(--cf-wrong); }
  `;

  constructor() {
    super();
    this.source = '';
    this.label = '';
    this.digits = 2;
    this.wrongRow = -1;
    this.secret = false;
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.numbers) return nothing;
    const { dims, data } = this.numbers;
    const columns = dims.at(-1) ?? 1;
    const texts = Array.from(data, (value) => (this.secret ? '?' : decimals(value, this.digits)));
    const rows = Array.from({ length: Math.ceil(texts.length / columns) }, (_, r) =>
      texts.slice(r * columns, (r + 1) * columns).join(', '),
    );
    return html`<span class="brackets" role="math" aria-label="${this.label}: ${rows.join('; ')}" ${vars({ '--columns': columns })}>${texts.map(
      (text, i) =>
        html`<span class=${Math.floor(i / columns) === this.wrongRow ? 'wrong' : ''} aria-hidden="true">${text}</span>`,
    )}</span>`;
  }
}

customElements.define('book-bracketed', BookBracketed);
