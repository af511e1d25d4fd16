// <vectors-split>: a text split into a model's tokens, each with its id.

import type { Numbers, Token } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import type { Split } from './reading.js';

/** At most this many tokens are shown, around the chosen one. */
const mostTokens = 40;

/** Events: `token-select` { index } in the whole text. */
class VectorsSplit extends LitElement {
  static override properties: PropertyDeclarations = {
    split: { attribute: false },
    labels: { attribute: false },
    selected: { type: Number },
  };
  declare split: Split | undefined;
  declare labels: Readonly<Record<string, string>>;
  /** -1: none. */
  declare selected: number;

  static override styles = [
    figureStyles,
    css`
      :host { margin: 0 0 14px; }
      header { display: flex; gap: 12px; align-items: baseline; margin-bottom: 2px; }
      header b { font-weight: 600; }
    `,
  ];

  constructor() {
    super();
    this.labels = {};
    this.selected = -1;
  }

  get source(): string {
    return `tokenizer(${JSON.stringify(this.split?.text ?? '')}).input_ids, ${this.split?.reader ?? ''}`;
  }
  get numbers(): Numbers | undefined {
    return this.split && { dims: [this.split.ids.length], data: this.split.ids };
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.split) return nothing;
    const { labels } = this;
    const { pieces, reader, room, dropped, ids } = this.split;
    const marks = pieces.filter(({ special }) => special).map(({ label }) => label);
    const last = Math.max(0, ids.length - mostTokens);
    const from = Math.max(0, Math.min(last, this.selected - mostTokens / 2));
    const tokens: Token[] = pieces.slice(from, from + mostTokens);
    const notes = [
      ...(last > 0 ? [filled(labels.window ?? '', { from: from + 1, to: from + tokens.length, of: ids.length })] : []),
      ...(ids.length > room ? [filled(labels.room ?? '', { room, of: ids.length })] : []),
      ...(dropped > 0 ? [filled(labels.dropped ?? '', { n: dropped })] : []),
      ...(ids.length === 0 ? [labels.nothingRead ?? ''] : []),
    ];
    return html`<header><b>${reader}</b><span class="muted number">${filled(labels.count ?? '', { n: ids.length - marks.length })}${marks.map((mark) => ` + ${mark}`)}</span></header>
      <cf-tokens .tokens=${tokens} ids .selected=${this.selected < 0 ? undefined : this.selected - from} label="${reader}" @token-select=${(event: CustomEvent<{ index: number }>) => this.#select(event, from)}></cf-tokens>
      ${notes.map((note) => html`<p class="verdict">${note}</p>`)}`;
  }

  #select(event: CustomEvent<{ index: number }>, from: number): void {
    event.stopPropagation();
    const detail = { index: from + event.detail.index };
    this.dispatchEvent(new CustomEvent('token-select', { detail, bubbles: true, composed: true }));
  }
}

customElements.define('vectors-split', VectorsSplit);
