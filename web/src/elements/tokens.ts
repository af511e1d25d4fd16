// <cf-tokens>: the tokens of a text, optionally with one selected and with weights as their background colours.

import { css, html, nothing, type TemplateResult } from 'lit';
import { define, ElementBase, type Properties, sharedStyles, tell } from './base.js';
import { cssColour, inkOn, signed, weight } from './colours.js';
import { spoken } from './formats.js';
import { type Hue, hueColour, hueForm } from './matrix/view.js';
import { ModelTask } from './model_task.js';
import { type Drawn, faultOf, largest, type Numbers } from './numbers.js';
import { answerKey, listStyles } from './option_list.js';
import { type Token, tokensForm, visibleToken } from './token_pieces.js';
import { words } from './words.js';

/**
 * The tokens of a text: `tokens`, or those of a `model` for its `text`. Events: `token-select` { index }, on click,
 * tap, Enter or Space.
 */
export class CfTokens extends ElementBase implements Drawn {
  /** @internal */
  static styles = [
    sharedStyles,
    listStyles,
    css`
      [role='listbox'] {
        display: flex;
        flex-wrap: wrap;
        font: max(17px, var(--_min-font-size)) / 1.5 var(--_serif);
      }
      [role='option'] {
        padding: 3px 1px 2px;
        white-space: pre;
        border-bottom: 2px solid transparent;
        color: var(--_ink);
      }
      [role='option']:hover {
        border-color: var(--_line-strong);
      }
      [role='option'].weighed {
        padding: 3px 3px 2px;
        margin: 0 0.5px;
        border-radius: 2px;
      }
      .special {
        color: var(--_muted);
        font: max(12px, var(--_min-font-size)) / max(25px, 1.5 * var(--_min-font-size)) var(--_mono);
        padding-right: 5px;
      }
      .numbered {
        gap: 5px 3px;
      }
      .numbered [role='option'] {
        padding: 3px 6px 2px;
        background: var(--_sunken);
        border-radius: 4px 4px 0 0;
      }
      .id {
        display: block;
        text-align: center;
        color: inherit;
        opacity: 0.85;
        font: max(11px, var(--_min-font-size)) / max(14px, 1.2 * var(--_min-font-size)) var(--_mono);
      }
      [aria-selected='true'] {
        border-color: var(--_hue, var(--_q));
      }
    `,
  ];
  /** @internal */
  static override properties: Properties = {
    tokens: { attribute: false, initial: [], form: tokensForm },
    selected: { type: Number },
    values: { attribute: false, form: { length: 'number' } },
    source: { initial: '' },
    scale: { initial: 'weights', form: new Set(['weights', 'signed']) },
    ids: { type: Boolean, initial: false },
    hue: { initial: 'q', form: hueForm },
    label: { initial: '' },
    model: {},
    text: { initial: '' },
    active: { state: true, initial: 0 },
  };

  declare tokens: readonly Token[];
  /** Index of the selected token. */
  declare selected: number | undefined;
  /** A number per token, shown as its background; needs `source`. */
  declare values: ArrayLike<number> | undefined;
  declare source: string;
  declare scale: 'weights' | 'signed';
  /** Shows the ids below. */
  declare ids: boolean;
  /** The colour of the line under the selected token. */
  declare hue: Hue;
  /** The list's accessible name. */
  declare label: string;
  /** With a model (a Hub id, or the URL of a folder) the element tokenizes `text` itself. */
  declare model: string | undefined;
  declare text: string;
  /** @internal */
  declare active: number;
  readonly #task = new ModelTask(this);

  /** @internal */
  willUpdate(): void {
    const { model, text } = this;
    this.#task.start([model, text], {
      run: ({ running, ...tools }) => running.tokensOf({ ...tools, text }),
      shown: (tokens) => ({ tokens }),
      failed: () => {
        this.tokens = [];
      },
    });
  }

  /** The values in a form that can be exported. */
  get numbers(): Numbers | undefined {
    return this.values && { dims: [this.values.length], data: this.values };
  }

  /** The screen position of a token; empty (0 × 0) before the first rendering. */
  tokenBox(index: number): DOMRect {
    return this.shadowRoot?.querySelectorAll('[role=option]')[index]?.getBoundingClientRect() ?? new DOMRect();
  }

  /** @internal */
  fault(): string | undefined {
    const { tokens, values } = this;
    if (values && values.length !== tokens.length) return `${tokens.length} tokens, but ${values.length} values`;
    return faultOf(this);
  }

  /** @internal */
  draw(): TemplateResult | typeof nothing {
    if (this.tokens.length === 0) return this.#task.status();
    const at = Math.min(this.active, this.tokens.length - 1);
    return html`${this.#task.status()}<div
      role="listbox" class=${this.ids ? 'numbered' : ''} tabindex="0" aria-label=${this.label || words().tokens} aria-orientation="horizontal"
      aria-activedescendant="token-${at}" @keydown=${this.#key} @focus=${this.#focus}
    >${this.tokens.map((token, index) => this.#option(token, index, at))}</div>`;
  }

  #option(token: Token, index: number, at: number): TemplateResult {
    const value = this.values?.[index];
    const classes = [
      ...(token.special ? ['special'] : []),
      ...(value === undefined ? [] : ['weighed']),
      ...(index === at ? ['at'] : []),
    ];
    const shown = visibleToken(token.text);
    const aside = (text: string): TemplateResult => html`<span class="said">, ${text}</span>`;
    const numbered = this.ids && token.id !== undefined;
    return html`<span
      role="option" id="token-${index}" class=${classes.join(' ')} aria-selected=${index === this.selected}
      @click=${() => this.#choose(index)}
    >${shown}${token.special ? aside(words().special) : nothing}${value === undefined ? nothing : aside(spoken(value))}${
      numbered ? html`<span class="said">, </span><span class="id">${token.id}</span>` : nothing
    }</span>`;
  }

  /** @internal */
  updated(): void {
    const list = this.renderRoot.querySelector<HTMLElement>('[role=listbox]');
    if (!list) return;
    list.style.setProperty('--_hue', hueColour(this.hue));
    const most = this.values ? largest(this.values) : 1;
    list.querySelectorAll<HTMLElement>('[role=option]').forEach((option, index) => {
      const value = this.values?.[index];
      const rgb = value === undefined ? undefined : this.#colour(value, most);
      option.style.background = rgb === undefined ? '' : cssColour(rgb);
      option.style.color = rgb === undefined ? '' : cssColour(inkOn(rgb));
      option.style.setProperty('forced-color-adjust', rgb === undefined ? '' : 'none');
    });
  }

  #colour(value: number, most: number): readonly [number, number, number] {
    return this.scale === 'signed' ? signed(value, most, this.theme) : weight(value, this.theme);
  }

  #choose(index: number): void {
    this.active = this.selected = index;
    tell(this, 'token-select', { index });
  }

  #focus(): void {
    if (this.selected !== undefined) this.active = this.selected;
  }

  #key(event: KeyboardEvent): void {
    answerKey(event, this, this.tokens.length, (index) => this.#choose(index));
  }
}

define('cf-tokens', CfTokens);

declare global {
  interface HTMLElementTagNameMap {
    'cf-tokens': CfTokens;
  }
}
