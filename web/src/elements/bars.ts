// <cf-bars>: a bar chart with numbers, mainly of probabilities.

import { css, html, nothing, svg, type TemplateResult } from 'lit';
import { define, ElementBase, type Properties, sharedStyles, tell } from './base.js';
import { cssColour, signed } from './colours.js';
import { decimals, percent } from './formats.js';
import { ModelTask } from './model_task.js';
import { type Drawn, faultOf, largest, type Numbers } from './numbers.js';
import { answerKey, listStyles } from './option_list.js';
import { visibleToken } from './token_pieces.js';
import { words } from './words.js';

/** One bar. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Shown after the number. */
  readonly note?: string | undefined;
  readonly selected?: boolean | undefined;
}

/**
 * Events: `bar-select` { index }, on click, tap, Enter or Space, unless `readonly`. Negative values extend to the left of
 * a line, which is at the right edge if no value is positive.
 */
export class CfBars extends ElementBase implements Drawn {
  /** @internal */
  static styles = [
    sharedStyles,
    listStyles,
    css`
      .bars {
        margin: 0;
        padding: 0;
        list-style: none;
        display: grid;
        grid-template-columns: fit-content(40%) minmax(0, 1fr);
      }
      .bar {
        display: grid;
        grid-column: 1 / -1;
        grid-template-columns: subgrid;
        column-gap: 12px;
        align-items: center;
        min-height: 25px;
        padding: 2px 6px;
        border-radius: 6px;
        color: var(--_ink);
      }
      [role='option']:hover,
      .bar.selected {
        background: var(--_sunken);
      }
      .label {
        font: max(17px, var(--_min-font-size)) / 1.25 var(--_serif);
        text-align: right;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      .selected .label {
        font-weight: 600;
      }
      .track {
        display: grid;
        grid-template-columns: minmax(0, 1fr) minmax(max(62px, 4em), max-content);
        column-gap: 10px;
        align-items: center;
        font-size: max(13.5px, var(--_min-font-size));
      }
      .track.after {
        display: flex;
        padding-right: var(--_room, 5.4em);
      }
      .after .number {
        margin-right: calc(-1 * var(--_room, 5.4em));
      }
      svg {
        display: block;
        overflow: visible;
        flex: none;
        min-width: 2px;
      }
      .nothing {
        min-width: 0;
      }
      rect {
        fill: var(--_accent);
      }
      rect.signed {
        fill: currentColor;
      }
      line {
        stroke: var(--_line-strong);
      }
      .number {
        flex: none;
        color: var(--_muted);
        font-variant-numeric: tabular-nums;
        white-space: nowrap;
      }
      .bar:first-child .number,
      .selected .number {
        color: var(--_ink);
      }
      .note {
        color: var(--_muted);
        margin-left: 6px;
      }
    `,
  ];
  /** @internal */
  static override properties: Properties = {
    items: { attribute: false, initial: [], form: [{ label: 'string', value: 'number' }] },
    source: { initial: '' },
    format: { initial: 'percent', form: new Set(['percent', 'number']) },
    digits: { type: Number, initial: 2 },
    max: { type: Number, initial: 0 },
    readonly: { type: Boolean, initial: false },
    label: { initial: '' },
    model: {},
    text: { initial: '' },
    top: { type: Number, initial: 10 },
    active: { state: true, initial: 0 },
  };

  declare items: readonly Bar[];
  declare source: string;
  /** `percent` (default) for probabilities, `number` with `digits` decimals, or none if all values are integers. */
  declare format: 'percent' | 'number';
  /** Decimals of numbers; default 2. */
  declare digits: number;
  /** The value of a full bar; 0: the largest value. */
  declare max: number;
  declare readonly: boolean;
  /** The list's accessible name. */
  declare label: string;
  /**
   * With a model (a Hub id, or the URL of a folder) the element sets `items` and `source` itself: the next tokens of
   * `text`.
   */
  declare model: string | undefined;
  declare text: string;
  /** Number of most probable tokens. */
  declare top: number;
  /** @internal */
  declare active: number;
  readonly #task = new ModelTask(this);

  /** @internal */
  willUpdate(): void {
    const { model, text, top } = this;
    this.#task.start([model, text, top], {
      run: ({ running, ...tools }) => running.nextOf({ ...tools, text }, top),
      shown: ({ guesses, source }) => ({
        items: guesses.map(({ token, probability }) => ({ label: token, value: probability })),
        source,
      }),
      failed: () => {
        this.items = [];
      },
    });
  }

  /** The values in a form that can be exported. */
  get numbers(): Numbers | undefined {
    if (this.items.length === 0 || this.misfit !== undefined) return undefined;
    return { dims: [this.items.length], data: this.items.map(({ value }) => value) };
  }

  /** @internal */
  fault(): string | undefined {
    return faultOf(this);
  }

  /** @internal */
  draw(): TemplateResult | typeof nothing {
    const { numbers } = this;
    const status = this.#task.status();
    if (numbers === undefined) return status;
    const most = this.max > 0 ? this.max : largest(numbers.data);
    const isNegative = this.items.some(({ value }) => value < 0);
    const zero = !isNegative ? 0 : this.items.some(({ value }) => value > 0) ? 50 : 100;
    const at = Math.min(this.active, this.items.length - 1);
    const rows = this.items.map((item, index) => this.#bar(item, index, { at, most, zero }));
    const label = this.label || words().probability;
    if (this.readonly) return html`${status}<ul class="bars" aria-label=${label}>${rows}</ul>`;
    return html`${status}<div
      class="bars" role="listbox" tabindex="0" aria-label=${label} aria-activedescendant="bar-${at}" @keydown=${this.#key}
    >${rows}</div>`;
  }

  /**
   * @internal A full bar leaves room for the widest number and its note: in steps, so that bars keep their scale while
   * numbers change by a digit, and through the CSSOM, which strict content security policies allow.
   */
  updated(): void {
    const widths = Array.from(this.renderRoot.querySelectorAll<HTMLElement>('.number'), (each) => each.offsetWidth);
    const room = 16 * Math.ceil((Math.max(0, ...widths) + 12) / 16);
    this.renderRoot.querySelector<HTMLElement>('.bars')?.style.setProperty('--_room', `max(5.4em, ${room}px)`);
  }

  #bar(item: Bar, index: number, { at, most, zero }: { at: number; most: number; zero: number }): TemplateResult {
    const shown = this.#shown(item.value);
    const share = Math.max(-1, Math.min(1, Number.isNaN(item.value) ? 0 : item.value / most));
    const content = html`<span class="label">${visibleToken(item.label)}</span><span class="said">, </span><span
        class="track ${zero > 0 ? '' : 'after'}">${zero > 0 ? this.#around(share, zero) : this.#along(share)}<span
        class="number">${shown}${item.note ? html`<span class="said">, </span><span class="note">${item.note}</span>` : nothing}</span></span>`;
    const classes = `bar ${item.selected ? 'selected' : ''} ${index === at ? 'at' : ''}`;
    if (this.readonly) return html`<li class=${classes}>${content}</li>`;
    return html`<div
      role="option" id="bar-${index}" class=${classes} aria-selected=${item.selected ? 'true' : 'false'}
      @click=${() => this.#choose(index)}
    >${content}</div>`;
  }

  #shown(value: number): string {
    if (this.format === 'percent') return percent(value);
    const whole = this.items.every((item) => Number.isInteger(item.value));
    return decimals(value, whole ? 0 : this.digits);
  }

  #along(share: number): TemplateResult {
    return html`<svg class=${share > 0 ? '' : 'nothing'} width="${share * 100}%" height="11" aria-hidden="true"><rect width="100%" height="11" rx="2"></rect></svg>`;
  }

  /** A bar to the left or right of a line, which is at `zero` per cent. */
  #around(share: number, zero: number): TemplateResult {
    const colour = cssColour(signed(share < 0 ? -1 : 1, 1, this.theme));
    const width = Math.abs(share) * zero;
    const x = share < 0 ? zero - width : zero;
    const bar = svg`<rect x="${x}%" width="${width}%" height="11" rx="1" class="signed"></rect>`;
    return html`<svg width="100%" height="11" aria-hidden="true" color=${colour}>${bar}<line x1="${zero}%" x2="${zero}%" y1="-5" y2="16"></line></svg>`;
  }

  #choose(index: number): void {
    this.active = index;
    tell(this, 'bar-select', { index });
  }

  #key(event: KeyboardEvent): void {
    answerKey(event, this, this.items.length, (index) => this.#choose(index));
  }
}

define('cf-bars', CfBars);

declare global {
  interface HTMLElementTagNameMap {
    'cf-bars': CfBars;
  }
}
