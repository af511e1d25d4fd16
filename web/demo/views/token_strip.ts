// A text as tokens: each can be pointed at or picked, and carries as its background how strongly the token in
// focus attends to it.

import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { classMap } from 'lit/directives/class-map.js';
import { styleMap } from 'lit/directives/style-map.js';
import { type ColourScale, cssColour, textOn } from '../state/colour_scale.js';
import type { ShownToken } from '../state/token_texts.js';
import { shared } from './styles.js';

export class TokenStrip extends LitElement {
  static override properties: PropertyDeclarations = {
    tokens: { attribute: false },
    label: {},
    revision: { attribute: false },
    scale: { attribute: false },
    weights: { attribute: false },
    query: { attribute: false },
    key: { attribute: false },
    pinned: { attribute: false },
    writing: { type: Boolean },
  };
  declare tokens: readonly ShownToken[];
  declare label: string;
  /** Changes whenever the tokens do. */
  declare revision: number;
  declare scale: ColourScale;
  /** Attention weights over the first tokens, shown as backgrounds; may be empty. */
  declare weights: ArrayLike<number>;
  /** The token that attends. */
  declare query: number | undefined;
  /** A token pointed at in the map. */
  declare key: number | undefined;
  declare pinned: number | undefined;
  declare writing: boolean;
  #cursor = 0;

  static override styles = [
    shared,
    css`
      :host { overflow-y: auto; overscroll-behavior-y: auto; padding: 3px 4px; margin-inline: -4px; scrollbar-width: thin; }
      .tokens { letter-spacing: var(--token-spacing, normal); font: 1.18rem / 1.8 var(--font-text); overflow-wrap: anywhere; }
      .token {
        position: relative;
        padding: 3px 0 2px;
        border-radius: 4px;
        white-space: pre-wrap;
        cursor: pointer;
        box-decoration-break: clone;
        -webkit-box-decoration-break: clone;
        box-shadow: inset 0 -1px 0 var(--line);
        transition: background-color 0.12s;
      }
      .token:hover { box-shadow: inset 0 -2px 0 var(--focus); }
      .prompt { font-weight: 600; }
      .reader { box-shadow: inset 0 -2px 0 var(--focus); }
      .special { font: 0.72rem var(--font-code); padding: 2px 4px; margin-right: 2px; border: 1px solid var(--line); vertical-align: 3px; }
      .query { outline: 2px solid var(--focus); outline-offset: 0; z-index: 1; }
      .key { outline: 2px dashed var(--focus); outline-offset: 0; z-index: 1; }
      .caret { display: inline-block; width: 2px; height: 1.1em; margin-left: 3px; background: var(--accent); vertical-align: -0.2em; }
      @media (prefers-reduced-motion: no-preference) {
        .caret { animation: blink 1.1s steps(2) infinite; }
        @keyframes blink { 50% { opacity: 0; } }
      }
      @media (prefers-reduced-motion: reduce) { .token { transition: none; } }
      @media (max-width: 560px) { .tokens { font-size: 1.12rem; } }
    `,
  ];

  constructor() {
    super();
    this.tokens = [];
    this.label = 'The text, token by token';
    this.revision = 0;
    this.weights = [];
    this.writing = false;
  }

  override render(): TemplateResult {
    return html`<div
      class="tokens"
      role="listbox"
      aria-label=${`${this.label}: arrow keys move, Enter keeps a token in focus`}
      aria-orientation="horizontal"
      @pointerover=${(event: PointerEvent) => event.pointerType === 'mouse' && this.#emit('token-hover', this.#indexOf(event))}
      @pointerleave=${() => this.#emit('token-hover', undefined)}
      @click=${(event: Event) => this.#pick(this.#indexOf(event))}
      @keydown=${this.#onKey}
      @focusout=${() => this.#emit('token-hover', undefined)}
    >${this.tokens.map((token, i) => this.#token(token, i))}${this.writing ? html`<span class="caret" role="presentation"></span>` : nothing}</div>`;
  }

  /** While it is written, the end of the text stays in view. */
  protected override updated(): void {
    if (this.writing) this.scrollTop = this.scrollHeight;
  }

  // No white space between tokens: it would show in the text.
  #token(token: ShownToken, i: number): TemplateResult {
    const weight = this.weights[i];
    const classes = {
      token: true,
      prompt: token.origin === 'prompt',
      reader: token.origin === 'reader',
      special: token.special,
      query: i === this.query,
      key: i === this.key && i !== this.query,
    };
    const colours =
      weight === undefined ? {} : { backgroundColor: cssColour(this.scale, weight), color: textOn(this.scale, weight) };
    const text = token.text.includes('\n') ? token.text.replaceAll('\n', '↵\n') : token.text;
    return html`<span
      id="t${i}" data-i=${i} role="option" class=${classMap(classes)} style=${styleMap(colours)}
      aria-selected=${i === this.pinned ? 'true' : 'false'} tabindex=${i === Math.min(this.#cursor, this.tokens.length - 1) ? 0 : -1}
    >${text}</span>`;
  }

  #indexOf(event: Event): number | undefined {
    const index = (event.target as HTMLElement).dataset.i;
    return index === undefined ? undefined : Number(index);
  }

  #pick(index: number | undefined): void {
    if (index === undefined) return;
    this.#cursor = index;
    this.#emit('token-pick', index === this.pinned ? undefined : index);
  }

  #onKey(event: KeyboardEvent): void {
    const last = this.tokens.length - 1;
    const at = this.#indexOf(event) ?? 0;
    const moves: Record<string, number> = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: last,
    };
    const next = moves[event.key];
    if (event.key === 'Enter' || event.key === ' ') this.#pick(at);
    else if (event.key === 'Escape') this.#emit('token-pick', undefined);
    else if (next === undefined) return;
    else this.#moveTo(Math.min(last, Math.max(0, next)));
    event.preventDefault();
  }

  #moveTo(index: number): void {
    this.#cursor = index;
    this.requestUpdate();
    this.renderRoot.querySelector<HTMLElement>(`#t${index}`)?.focus();
    this.#emit('token-hover', index);
  }

  #emit(name: 'token-hover' | 'token-pick', index: number | undefined): void {
    this.dispatchEvent(new CustomEvent(name, { detail: index }));
  }
}

customElements.define('token-strip', TokenStrip);
