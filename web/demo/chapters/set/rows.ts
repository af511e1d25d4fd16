// <set-rows>: tokens as chips, each with its output; chips are moved by dragging or by keys, and their outputs move
// with them.

import type { Numbers } from 'clearformer/elements';
import { decimals } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { ThemeColours } from '../../book/controllers.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import { pixels } from '../../book/pixels.js';
import { isAbove, upperPart } from '../../book/upper_part.js';
import { vars } from '../../book/vars.js';
import type { Moved } from './reading.js';

/** Differences below this are zero at the digits shown. */
export const seen = 5e-5;
/** A chip of 24 pixels, which fingers hit and its text fits in, and the gap. */
const leastRow = 30;

/** Events: `order` { order, first }: `first` is whether it begins a new move or continues one. */
class SetRows extends LitElement {
  static override properties: PropertyDeclarations = {
    moved: { attribute: false },
    labels: { attribute: false },
    secret: { type: Boolean },
    minFont: { type: Number },
    beside: { type: Number },
  };
  declare moved: Moved | undefined;
  declare labels: Readonly<Record<string, string>>;
  /** Whether the outputs are hidden. */
  declare secret: boolean;
  /** Minimum font size in CSS pixels; 0: default sizes. */
  declare minFont: number;
  /** Pixels of the viewport's height that other elements take. */
  declare beside: number;
  #dragged: number | undefined;
  /** Whether the dragged chip has left its place. */
  #under = false;

  static override styles = [
    figureStyles,
    css`
      .rows { position: relative; height: calc(var(--count) * var(--row)); }
      .row { position: absolute; left: 0; right: 0; height: var(--row); transform: translateY(calc(var(--place) * var(--row))); display: grid; grid-template-columns: minmax(64px, auto) minmax(0, 1fr) 74px; gap: 14px; align-items: center; }
      .row.held { z-index: 2; }
      @media (prefers-reduced-motion: no-preference) { .row:not(.held) { transition: transform 0.25s; } }
      .token { display: inline-flex; justify-content: center; align-items: center; height: calc(var(--row) - 6px); min-width: 56px; padding: 0 12px; border: 1px solid var(--cf-line-strong); border-radius: 999px; background: var(--cf-raised); font: max(17px, var(--cf-min-font-size)) var(--cf-serif); cursor: grab; touch-action: none; user-select: none; white-space: pre; }
      .token:hover { border-color: var(--cf-ink); } .held .token { border-color: var(--cf-accent); box-shadow: 0 2px 10px rgb(0 0 0 / 0.18); cursor: grabbing; }
      .strip { width: 100%; height: calc(var(--row) - 10px); image-rendering: pixelated; display: block; }
      .secret { color: var(--cf-muted); text-align: center; }
      .difference { font-size: max(13px, var(--cf-min-font-size)); color: var(--cf-muted); text-align: right; } .difference.off { color: var(--cf-wrong); font-weight: 600; }
      .large .row { grid-template-columns: minmax(calc(90px * var(--wall)), auto) minmax(0, 1fr) calc(100px * var(--wall)); }
      @media (max-width: 600px) { .row { grid-template-columns: minmax(48px, auto) minmax(0, 1fr) 52px; gap: 8px; } .token { min-width: 44px; padding: 0 8px; font-size: 15px; } .difference { font-size: 12px; } }
    `,
  ];

  constructor() {
    super();
    new ThemeColours(this);
    this.labels = {};
    this.secret = false;
    this.minFont = 0;
    this.beside = 480;
  }

  get source(): string {
    return this.moved?.now.source ?? '';
  }
  get numbers(): Numbers | undefined {
    return this.moved?.now.numbers;
  }

  /** A row's height in pixels; less for many rows or a low viewport, but with room for its chip as a target. */
  get #row(): number {
    const large = this.minFont > 0;
    const count = Math.max(1, this.moved?.order.length ?? 1);
    const room = isAbove() ? upperPart() - 180 : innerHeight - this.beside - (large ? 60 : 0);
    return Math.max(large ? this.minFont + 10 : leastRow, Math.min(large ? 48 : 38, Math.floor(room / count)));
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.moved) return nothing;
    const { labels, order, now, differences } = this.moved;
    const bound = Math.max(...Array.from(now.numbers.data, Math.abs)) * 0.7;
    // The chips keep their order in the DOM, so that a chip being moved keeps the focus.
    return html`<div class="rows ${this.minFont > 0 ? 'large' : ''}" role="group" aria-label=${this.labels.chips} ${vars({ '--count': order.length, '--row': `${this.#row}px` })}
      @pointermove=${this.#move} @pointerup=${this.#drop} @pointercancel=${this.#drop}>
      ${labels.map((label, token) => this.#chip(label, token, order.indexOf(token), now.numbers, differences, bound))}
    </div>`;
  }

  #chip(
    label: string,
    token: number,
    place: number,
    numbers: Numbers & { slice(at: number): Numbers },
    differences: readonly number[],
    bound: number,
  ): TemplateResult {
    const row = numbers.slice(place);
    const off = (differences[place] ?? 0) > seen;
    const said = filled(this.labels.chip ?? '', { token: label, place: place + 1, of: differences.length });
    return html`<div class="row ${this.#dragged === token ? 'held' : ''}" ${vars({ '--place': place })}>
      <button type="button" class="token" data-token=${token} aria-label=${said} @pointerdown=${(event: PointerEvent) => this.#hold(event, token)} @keydown=${(event: KeyboardEvent) => this.#key(event, place)}>${label}</button>
      ${this.secret ? html`<span class="secret">?</span>` : html`<img class="strip" alt="" src=${pixels(row.data, row.data.length, bound)} />`}
      <span class="difference number ${off ? 'off' : ''}">${this.secret ? '?' : decimals(differences[place] ?? 0, 3)}</span>
    </div>`;
  }

  #hold(event: PointerEvent, token: number): void {
    this.#dragged = token;
    this.#under = false;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    this.requestUpdate();
  }

  #move = (event: PointerEvent): void => {
    if (this.#dragged === undefined || !this.moved) return;
    const frame = this.renderRoot.querySelector('.rows')?.getBoundingClientRect();
    if (!frame) return;
    const { order } = this.moved;
    const place = Math.max(0, Math.min(order.length - 1, Math.floor((event.clientY - frame.top) / this.#row)));
    this.#put(order.indexOf(this.#dragged), place, !this.#under);
  };

  #drop = (): void => {
    if (this.#dragged === undefined) return;
    this.#dragged = undefined;
    this.requestUpdate();
  };

  #key(event: KeyboardEvent, place: number): void {
    const last = (this.moved?.order.length ?? 1) - 1;
    const to = {
      ArrowUp: place - 1,
      ArrowLeft: place - 1,
      ArrowDown: place + 1,
      ArrowRight: place + 1,
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.#put(place, Math.max(0, Math.min(last, to)), true);
  }

  #put(from: number, to: number, first: boolean): void {
    if (!this.moved || from === to) return;
    const order = [...this.moved.order];
    order.splice(to, 0, ...order.splice(from, 1));
    this.#under = true;
    this.dispatchEvent(new CustomEvent('order', { detail: { order, first } }));
  }
}

customElements.define('set-rows', SetRows);
