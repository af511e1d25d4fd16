// An error, said plainly, with the message and code of whoever threw it.

import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { errorText } from '../state/error_text.js';
import { shared } from './styles.js';

export class ErrorNote extends LitElement {
  static override properties: PropertyDeclarations = {
    error: { attribute: false },
    subject: {},
    consequence: {},
  };
  declare error: unknown;
  /** What was tried, and what holds now. */
  declare subject: string;
  declare consequence: string;

  static override styles = [
    shared,
    css`
      .note { display: flex; gap: 12px; align-items: start; padding: 12px 14px; border: 1px solid var(--error); border-radius: 10px; background: var(--error-soft); }
      .text { flex: 1; min-width: 0; overflow-wrap: anywhere; }
      strong { color: var(--error); }
      .message { margin: 2px 0; }
      button { min-height: 28px; }
    `,
  ];

  constructor() {
    super();
    this.subject = '';
    this.consequence = '';
  }

  override render(): TemplateResult | typeof nothing {
    if (this.error === undefined) return nothing;
    const { title, message, code, advice } = errorText(this.error);
    return html`<div class="note" role="alert">
      <div class="text">
        <strong>${this.subject ? `${this.subject}: ` : ''}${title}.</strong>
        <p class="message">${message}</p>
        ${advice ? html`<p class="message">${advice}</p>` : nothing}
        <p class="hint">${code ? html`Error code <code>${code}</code>. ` : nothing}${this.consequence}</p>
      </div>
      <button class="plain" aria-label="Close this message" @click=${() => this.dispatchEvent(new CustomEvent('dismiss'))}>✕</button>
    </div>`;
  }
}

customElements.define('error-note', ErrorNote);
