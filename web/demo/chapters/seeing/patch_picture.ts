// <patch-picture>: the picture, grey ones as ink on paper, split into its patches. A patch can be chosen, or dragged
// onto another.

import type { Drawn, Numbers } from 'clearformer/elements';
import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { ThemeColours } from '../../book/controllers.js';
import { forcedColours } from '../../book/figure_styles.js';
import { rove } from '../../book/roving.js';
import { vars } from '../../book/vars.js';
import { digits, type Geometry } from './geometry.js';

/** The gap between separated patches, relative to a patch's side. */
const cut = 0.18;
/** The canvas's pixels per side, about. */
const canvasSide = 448;

/**
 * Events: `patch-select` { place } on click, Enter or Space; `patch-move` { from, to } after dragging; `patch-point`
 * { place } or null.
 */
class PatchPicture extends LitElement implements Drawn {
  static override properties: PropertyDeclarations = {
    numbers: { attribute: false },
    source: {},
    shape: { attribute: false },
    black: { attribute: false },
    white: { attribute: false },
    label: {},
    placeName: { attribute: false },
    chosen: { type: Number },
    marked: { attribute: false },
    blank: { attribute: false },
    apart: { type: Boolean },
    faint: { type: Boolean },
    movable: { type: Boolean },
    carried: { state: true },
  };
  /** [side, side], or [3, side, side] in colour. */
  declare numbers: Numbers | undefined;
  declare source: string;
  declare shape: Geometry;
  /** The values of black and white, one per channel; grey pictures are drawn with black as paper and white as ink. */
  declare black: readonly number[];
  declare white: readonly number[];
  declare label: string;
  /** The accessible name of a patch position. */
  declare placeName: (place: number) => string;
  declare chosen: number | undefined;
  /** Positions whose patch has moved. */
  declare marked: readonly number[];
  /** Positions with hidden patches. */
  declare blank: readonly number[];
  /** Whether the patches are separated. */
  declare apart: boolean;
  /** Pale ink, below an overlay. */
  declare faint: boolean;
  declare movable: boolean;
  /** The position whose patch is being dragged. */
  declare private carried: number | undefined;

  static override styles = css`
    :host { display: block; position: relative; aspect-ratio: 1; }
    canvas { position: absolute; inset: 0; width: 100%; height: 100%; border-radius: 3px; color: var(--cf-ink); caret-color: var(--cf-raised); }
    .whole canvas { outline: 1px solid var(--cf-line); }
    .patches { position: absolute; inset: 0; display: grid; grid-template: repeat(var(--grid), 1fr) / repeat(var(--grid), 1fr); gap: var(--gap); }
    button { padding: 0; border: 0; background: none; border-radius: 1px; cursor: pointer; min-width: 0; min-height: 0; box-shadow: inset 0 0 0 0.5px var(--cf-line); }
    .movable button { touch-action: none; cursor: grab; }
    button:hover { box-shadow: inset 0 0 0 2px var(--cf-line-strong); }
    button.marked { box-shadow: inset 0 0 0 1.5px var(--cf-accent); }
    button.blank { background: repeating-linear-gradient(135deg, transparent 0 5px, var(--cf-line-strong) 5px 6px); }
    button[aria-pressed='true'] { box-shadow: inset 0 0 0 2.6px var(--cf-ink); }
    button.carried { box-shadow: inset 0 0 0 3px var(--cf-accent); }
    button:focus-visible { outline: 2px solid var(--cf-accent); outline-offset: 1px; z-index: 1; }
    ${forcedColours}
    ::slotted(*) { position: absolute; inset: 0; pointer-events: none; }
  `;

  constructor() {
    super();
    new ThemeColours(this);
    this.source = '';
    this.shape = digits;
    this.black = [-1];
    this.white = [1];
    this.label = '';
    this.placeName = String;
    this.marked = [];
    this.blank = [];
    this.apart = false;
    this.faint = false;
    this.movable = false;
  }

  protected override render(): TemplateResult {
    const { grid, places } = this.shape;
    const side = this.#canvasSide;
    const gap = this.apart ? `${(100 * cut) / (grid + cut * (grid - 1))}%` : '0px';
    const all = Array.from({ length: places }, (_, place) => place);
    return html`<div class="${this.apart ? 'apart' : 'whole'} ${this.movable ? 'movable' : ''}">
      <canvas width=${side} height=${side} aria-hidden="true"></canvas>
      <div class="patches" role="group" aria-label=${this.label} ${vars({ '--gap': gap, '--grid': grid })} @keydown=${this.#key}
        @pointerleave=${() => this.#tell('patch-point', null)}>${all.map((place) => this.#patch(place))}</div>
      <slot></slot>
    </div>`;
  }

  #patch(place: number): TemplateResult {
    const blank = this.blank.includes(place);
    const classes = `${this.marked.includes(place) ? 'marked' : ''} ${blank ? 'blank' : ''} ${place === this.carried ? 'carried' : ''}`;
    return html`<button type="button" class=${classes} tabindex=${place === (this.chosen ?? 0) ? 0 : -1} aria-label=${this.placeName(place)}
      aria-pressed=${place === this.chosen || place === this.carried || blank ? 'true' : 'false'}
      @click=${() => this.#choose(place)} @pointerenter=${() => this.#tell('patch-point', { place })} @focus=${() => this.#tell('patch-point', { place })}
      @pointerdown=${(event: PointerEvent) => this.#grab(event, place)}></button>`;
  }

  /** Canvas pixels per pixel of the picture. */
  get #resolution(): number {
    return Math.max(1, Math.round(canvasSide / this.shape.side));
  }

  get #canvasSide(): number {
    const { grid } = this.shape;
    const patch = this.shape.patch * this.#resolution;
    return Math.round(grid * patch + (this.apart ? cut * patch * (grid - 1) : 0));
  }

  protected override updated(): void {
    const context = this.renderRoot.querySelector('canvas')?.getContext('2d');
    if (!context || !this.numbers) return;
    const { color: ink, caretColor: paper } = getComputedStyle(context.canvas); // resolves light-dark()
    const { side, patch, channels } = this.shape;
    const size = this.#resolution;
    const gap = this.apart ? cut * patch * size : 0;
    const opacity = this.faint ? 0.3 : 1;
    context.clearRect(0, 0, context.canvas.width, context.canvas.height);
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        const left = x * size + Math.floor(x / patch) * gap;
        const top = y * size + Math.floor(y / patch) * gap;
        const lights = Array.from({ length: channels }, (_, channel) => this.#light(channel, y * side + x));
        const [grey = 0] = lights;
        context.globalAlpha = 1;
        context.fillStyle = paper;
        context.fillRect(left, top, size, size);
        context.globalAlpha = channels === 1 ? grey * opacity : opacity;
        context.fillStyle = channels === 1 ? ink : `rgb(${lights.map((light) => Math.round(255 * light)).join(' ')})`;
        context.fillRect(left, top, size, size);
      }
    }
  }

  /** A pixel's value between those of black and white, from 0 to 1. */
  #light(channel: number, pixel: number): number {
    const [black = 0, white = 1] = [this.black[channel], this.white[channel]];
    const value = this.numbers?.data[channel * this.shape.side ** 2 + pixel] ?? black;
    return (value - black) / (white - black);
  }

  #tell(type: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
  }

  /** Chooses a position; in a movable picture: picks its patch up, and the next position chosen is where it is put. */
  #choose(place: number): void {
    if (!this.movable) this.#tell('patch-select', { place });
    else if (this.carried === undefined) this.carried = place;
    else this.#drop(this.carried, place);
  }

  #drop(from: number, to: number): void {
    this.carried = undefined;
    if (from !== to) this.#tell('patch-move', { from, to });
  }

  #grab(event: PointerEvent, from: number): void {
    if (!this.movable || event.button !== 0 || this.carried !== undefined) return;
    if (event.target instanceof Element) event.target.releasePointerCapture(event.pointerId); // touch captures implicitly
    const dragging = new AbortController();
    const { signal } = dragging;
    const up = ({ clientX, clientY }: PointerEvent): void => {
      dragging.abort();
      const to = this.#placeAt(clientX, clientY);
      if (to !== undefined && to !== from) this.#drop(from, to); // on the same patch a click event follows
    };
    addEventListener('pointerup', up, { signal });
    addEventListener('pointercancel', () => dragging.abort(), { signal });
  }

  #placeAt(x: number, y: number): number | undefined {
    const { grid } = this.shape;
    const box = this.getBoundingClientRect();
    const column = Math.floor(((x - box.left) / box.width) * grid);
    const row = Math.floor(((y - box.top) / box.height) * grid);
    const inside = column >= 0 && column < grid && row >= 0 && row < grid;
    return inside ? row * grid + column : undefined;
  }

  #key(event: KeyboardEvent): void {
    if (event.key === 'Escape') this.carried = undefined;
    rove(event, [...this.renderRoot.querySelectorAll<HTMLElement>('button')], this.shape.grid);
  }
}

customElements.define('patch-picture', PatchPicture);
