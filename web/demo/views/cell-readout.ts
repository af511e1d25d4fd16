// The numbers under the map in words: one weight when a cell is pointed at, else the row in focus; and its sum.
import { css, html, LitElement, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { AttentionMaps } from '../state/attention-maps.js';
import { largest } from '../state/distribution.js';
import { visible, weightText } from '../state/format.js';
import type { Cell } from '../state/map-geometry.js';
import { shared } from './styles.js';

@customElement('cell-readout')
export class CellReadout extends LitElement {
  @property({ attribute: false }) store!: AttentionMaps;
  @property({ attribute: false }) revision = 0;
  @property({ attribute: false }) layer = 0;
  @property({ attribute: false }) head = 0;
  @property({ attribute: false }) texts: readonly string[] = [];
  /** Names of the keys where these are other tokens than the queries. */
  @property({ attribute: false }) keyTexts: readonly string[] | undefined;
  @property({ attribute: false }) query: number | undefined;
  @property({ attribute: false }) cell: Cell | undefined;
  /** Speaks changes to screen readers; off while the text grows by itself. */
  @property({ type: Boolean }) quiet = false;

  static override styles = [
    shared,
    css`
      .read { min-height: 3.2em; font-size: 0.93rem; }
      .token { font-family: var(--font-code); font-size: 0.9em; padding: 1px 5px; border-radius: 5px; background: var(--sunken); }
      .place { color: var(--muted); font-size: 0.85em; }
      b { font-variant-numeric: tabular-nums; }
    `,
  ];

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
      <p>${this.name(this.texts, query)} ${this.cell ? 'gives' : 'looks most at'} ${this.name(this.keyTexts ?? this.texts, key)}${this.cell ? ' the' : ':'} weight <b>${weightText(weight)}</b></p>
      <p class="hint number">Its row, over ${row.length === 1 ? '1 token' : `${row.length} tokens`}, sums to ${sum.toFixed(4)}.</p>
    </div>`;
  }

  private name(texts: readonly string[], at: number): TemplateResult {
    return html`<span class="token">${visible(texts[at] ?? '')}</span> <span class="place">#${at + 1}</span>`;
  }
}
