// <offline-state>: whether the page works offline, and if not why, in the texts of `labels`.

import { LitElement, type PropertyDeclarations } from 'lit';
import { type OfflineState, offline } from './offline.js';

/** Texts by state (`offline_ready`, …); for `off`, by reason. */
type OfflineLabels = Readonly<Record<string, string>>;

const keyOf = (now: OfflineState): string => `offline_${now.state === 'off' ? now.reason : now.state}`;

class OfflineStateText extends LitElement {
  static override properties: PropertyDeclarations = { labels: { attribute: false } };
  declare labels: OfflineLabels;

  #redraw = (): void => this.requestUpdate();

  override connectedCallback(): void {
    super.connectedCallback();
    offline.addEventListener('change', this.#redraw);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    offline.removeEventListener('change', this.#redraw);
  }

  protected override render(): string {
    const text = this.labels[keyOf(offline.now)] ?? '';
    return text.replace('{message}', offline.now.state === 'failed' ? offline.now.message : '');
  }
}

customElements.define('offline-state', OfflineStateText);
