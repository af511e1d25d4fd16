// The numbers under the map in words: one weight when a cell is pointed at, else the row in focus; and its sum.

import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { largest } from '../book/distribution.js';
import type { AttentionMaps } from '../state/attention_maps.js';
import { visible, weightText } from '../state/format.js';
import type { Cell } from '../state/map_geometry.js';
import { shared } from './styles.js';

export class CellReadout extends LitElement {
  static override properties: PropertyDeclarations = {
    store: { attribute: false },
    revision: { attribute: false },
    layer: { attribute: false },
    head: { attribute: false },
    texts: { attribute: false },
    keyTexts: { attribute: false },
    query: { attribute: false },
    cell: { attribute: false },
    quiet: { type: Boolean },
  };
  declare store: AttentionMaps;
  declare revision: number;
  declare layer: number;
  declare head: number;
  declare texts: readonly string[];
  /** Names of the keys where these are other tokens than the queries. */
  declare keyTexts: readonly string[] | undefined;
  declare query: number | undefined;
  declare cell: Cell | undefined;
  /** Speaks changes to screen readers; off while the text grows by itself. */
  declare quiet: boolean;

  static override styles = [
    shared,
    css`
      .read { min-height: 3.2em; font-size: 0.93rem; }
      .token { font-family: var(--font-code); font-size: 0.9em; padding: 1px 5px; border-radius: 5px; background: var(--sunken); }
      .place { color: var(--muted); font-size: 0.85em; }
      b { font-variant-numeric: tabular-nums; }
    `,
  ];

  constructor() {
    super();
    this.revision = 0;
    this.layer = 0;
    this.head = 0;
    this.texts = [];
    this.quiet = false;
  }

  override render(): TemplateResult {
    const query = this.cell?.query ?? this.query;
    const row = query === undefined ? undefined : this.store.row(this.layer, this.head, query);
    const live = this.quiet ? 'off' : 'polite';
    if (query === undefined || !row || row.length === 0) {
      return html`<div class="read" aria-live=${live}><p class="hint">Point at a cell to read its weight.</p></div>`;
    }
    const key = this.cell?.key ?? largest(row, 1)[0] ?? 0;
    const weight = row[key] ?? 0;
    const sum = row.reduce((total, one) => total + one, 0);
    return html`<div class="read" aria-live=${live} data-query=${query} data-key=${key} data-weight=${weight} data-sum=${sum}>
      <p>${this.#name(this.texts, query)} ${this.cell ? 'gives' : 'looks most at'} ${this.#name(this.keyTexts ?? this.texts, key)}${this.cell ? ' the' : ':'} weight <b>${weightText(weight)}</b></p>
      <p class="hint number">Its row, over ${row.length === 1 ? '1 token' : `${row.length} tokens`}, sums to ${sum.toFixed(4)}.</p>
    </div>`;
  }

  #name(texts: readonly string[], at: number): TemplateResult {
    return html`<span class="token">${visible(texts[at] ?? '')}</span> <span class="place">#${at + 1}</span>`;
  }
}

customElements.define('cell-readout', CellReadout);
