// <digit-pad>: a canvas to draw on with the mouse, a pen, a finger or the arrow keys. Outputs the drawing, white on
// black.

import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { ThemeColours } from '../../book/controllers.js';
import { forcedColours } from '../../book/figure_styles.js';
import { theme } from '../../book/theme.js';
import { vars } from '../../book/vars.js';
import { blackCanvas, canvasSide } from './frame.js';

const strokeWidth = 22;
/** The pen's step per press of an arrow key. */
const stride = 14;
/** How long the keyboard's pen must be idle before the drawing is processed. */
const rest = 600; // ms

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Event: `drawing`, an OffscreenCanvasRenderingContext2D of 280 × 280, after each stroke. */
class DigitPad extends LitElement {
  static override properties: PropertyDeclarations = {
    label: {},
    hint: {},
    drawn: { state: true },
    pen: { state: true },
  };
  declare label: string;
  /** The hint on the empty pad. */
  declare hint: string;
  declare private drawn: boolean;
  /** The position of the keyboard's pen. */
  declare private pen: Point | undefined;
  #ink: OffscreenCanvasRenderingContext2D | undefined;
  #last: Point | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  static override styles = css`
    :host { display: block; position: relative; aspect-ratio: 1; }
    canvas { position: absolute; inset: 0; width: 100%; height: 100%; touch-action: none; cursor: crosshair; border-radius: 3px; opacity: 0; color: var(--cf-ink); background: var(--cf-raised); }
    .drawn { opacity: 1; outline: 1px solid var(--cf-line); }
    canvas:focus-visible { outline: 2px solid var(--cf-accent); outline-offset: 2px; opacity: 1; }
    i { position: absolute; width: 14px; height: 14px; margin: -8px; border: 2px solid var(--cf-accent); border-radius: 50%; pointer-events: none; left: var(--x); top: var(--y); }
    ${forcedColours}
    .under { position: absolute; inset: 0; pointer-events: none; }
    p { position: absolute; inset: auto 6px 5px; margin: 0; text-align: center; color: var(--cf-muted); font-size: max(13px, var(--cf-min-font-size)); pointer-events: none; }
  `;

  constructor() {
    super();
    new ThemeColours(this);
    this.label = '';
    this.hint = '';
    this.drawn = false;
  }

  /** Discards the strokes after another picture was chosen. */
  clear(): void {
    this.#ink = undefined;
    this.drawn = false;
  }

  protected override render(): TemplateResult {
    const { pen } = this;
    return html`<div class="under"><slot></slot></div>
      <canvas class=${this.drawn ? 'drawn' : ''} width=${canvasSide} height=${canvasSide} tabindex="0" role="application" aria-label=${this.label}
        @pointerdown=${this.#down} @pointermove=${this.#move} @pointerup=${this.#up} @pointercancel=${this.#up} @keydown=${this.#key} @blur=${this.#leave}></canvas>
      ${pen ? html`<i ${vars({ '--x': `${(100 * pen.x) / canvasSide}%`, '--y': `${(100 * pen.y) / canvasSide}%` })}></i>` : ''}
      ${this.drawn ? '' : html`<p>${this.hint}</p>`}`;
  }

  protected override updated(): void {
    this.#show();
  }

  #show(): void {
    const seen = this.renderRoot.querySelector('canvas')?.getContext('2d', { willReadFrequently: true });
    if (!seen || !this.#ink) return;
    // The drawing is white on black; on the page it is rendered as ink on paper.
    seen.globalCompositeOperation = 'copy';
    seen.drawImage(this.#ink.canvas, 0, 0);
    const image = seen.getImageData(0, 0, canvasSide, canvasSide);
    const dark = theme.current === 'dark';
    for (let i = 0; i < image.data.length; i += 4) {
      image.data[i + 3] = image.data[i] ?? 0;
      image.data.set(dark ? [233, 230, 223] : [28, 34, 44], i); // --cf-ink
    }
    seen.putImageData(image, 0, 0);
  }

  #begin(at: Point): void {
    if (!this.drawn) this.#ink = blackCanvas();
    this.drawn = true;
    this.#last = at;
  }

  #line(to: Point): void {
    const ink = this.#ink;
    const from = this.#last ?? to;
    if (!ink) return;
    ink.strokeStyle = '#fff';
    ink.lineWidth = strokeWidth;
    ink.lineCap = 'round';
    ink.lineJoin = 'round';
    ink.beginPath();
    ink.moveTo(from.x, from.y);
    ink.lineTo(to.x, to.y);
    ink.stroke();
    this.#last = to;
    this.#show();
  }

  #give(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#ink) this.dispatchEvent(new CustomEvent('drawing', { detail: this.#ink }));
  }

  #down(event: PointerEvent): void {
    (event.target as Element).setPointerCapture(event.pointerId);
    this.pen = undefined;
    const at = this.#placeOf(event);
    this.#begin(at);
    this.#line(at);
  }

  #move(event: PointerEvent): void {
    if (this.#last && this.pen === undefined) this.#line(this.#placeOf(event));
  }

  #up(): void {
    if (!this.#last || this.pen !== undefined) return;
    this.#last = undefined;
    this.#give();
  }

  #placeOf(event: PointerEvent): Point {
    const box = (event.target as Element).getBoundingClientRect();
    return {
      x: ((event.clientX - box.left) / box.width) * canvasSide,
      y: ((event.clientY - box.top) / box.height) * canvasSide,
    };
  }

  /** Arrows move the pen; with Shift they draw. */
  #key(event: KeyboardEvent): void {
    const moves: Record<string, Point> = {
      ArrowLeft: { x: -stride, y: 0 },
      ArrowRight: { x: stride, y: 0 },
      ArrowUp: { x: 0, y: -stride },
      ArrowDown: { x: 0, y: stride },
    };
    const by = moves[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const from = this.pen ?? { x: canvasSide / 2, y: canvasSide / 4 };
    const within = (at: number): number => Math.max(stride, Math.min(canvasSide - stride, at));
    const to = { x: within(from.x + by.x), y: within(from.y + by.y) };
    this.pen = to;
    if (!event.shiftKey) return;
    this.#begin(from);
    this.#line(to);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#give(), rest);
  }

  #leave(): void {
    if (this.#timer !== undefined) this.#give();
    this.pen = undefined;
    this.#last = undefined;
  }
}

customElements.define('digit-pad', DigitPad);

declare global {
  interface HTMLElementTagNameMap {
    'digit-pad': DigitPad;
  }
}
