// <tile-grid>: many small matrices of signed values or of weights side by side, one of them chosen.

import { type Drawn, type Numbers, type Scale, signed, weight } from 'clearformer/elements';
import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { ThemeColours } from './controllers.js';
import { forcedColours } from './figure_styles.js';
import { rove } from './roving.js';
import { theme } from './theme.js';
import { vars } from './vars.js';

/** The canvas's pixels per row, at most. */
const mostPixels = 3000;

/** Event: `tile-select` { tile }. */
class TileGrid extends LitElement implements Drawn {
  static override properties: PropertyDeclarations = {
    numbers: { attribute: false },
    source: {},
    label: {},
    tileName: { attribute: false },
    scale: {},
    faint: { attribute: false },
    across: { type: Number },
    bound: { type: Number },
    chosen: { type: Number },
  };
  /** The last two dimensions are a tile's rows and columns. */
  declare numbers: Numbers | undefined;
  declare source: string;
  declare label: string;
  declare tileName: (tile: number) => string;
  /** 'weights' from 0 to 1, or 'signed'. */
  declare scale: Scale;
  /** Whether a tile counts less than the others. */
  declare faint: (tile: number) => boolean;
  /** Tiles per row. */
  declare across: number;
  /** The magnitude of a value with the full colour. */
  declare bound: number;
  declare chosen: number | undefined;

  static override styles = css`
    :host { display: block; }
    .tiles { position: relative; aspect-ratio: var(--shape); }
    canvas { position: absolute; width: 100%; height: 100%; image-rendering: pixelated; }
    .over { position: absolute; inset: 0; display: grid; grid-template: repeat(var(--down), 1fr) / repeat(var(--across), 1fr); }
    button { margin: 1px; padding: 0; border: 0; background: none; cursor: pointer; border-radius: 2px; min-width: 0; min-height: 0; }
    button.faint { background: color-mix(in srgb, var(--cf-paper) 75%, transparent); }
    button:hover { box-shadow: 0 0 0 1.5px var(--cf-line-strong); }
    button[aria-pressed='true'] { box-shadow: 0 0 0 2.4px var(--cf-ink); }
    ${forcedColours}
    button:focus-visible { outline: 2px solid var(--cf-accent); outline-offset: 2px; z-index: 1; }
  `;

  constructor() {
    super();
    new ThemeColours(this);
    this.source = '';
    this.label = '';
    this.tileName = String;
    this.scale = 'signed';
    this.faint = () => false;
    this.across = 8;
    this.bound = 1;
  }

  get #shape(): { tiles: number; rows: number; columns: number } {
    const dims = this.numbers?.dims ?? [];
    const [rows = 1, columns = 1] = dims.slice(-2);
    return { tiles: (this.numbers?.data.length ?? 0) / (rows * columns), rows, columns };
  }

  protected override render(): TemplateResult {
    const { tiles, rows, columns } = this.#shape;
    const down = Math.ceil(tiles / this.across);
    const all = Array.from({ length: tiles }, (_, tile) => tile);
    return html`<div class="tiles" ${vars({ '--across': this.across, '--down': down, '--shape': `${this.across * columns} / ${down * rows}` })}>
      <canvas width=${this.across * (columns + 1)} height=${down * (rows + 1)} aria-hidden="true"></canvas>
      <div class="over" role="group" aria-label=${this.label} @keydown=${this.#key}>${all.map(
        (tile) =>
          html`<button type="button" class=${this.faint(tile) ? 'faint' : ''} aria-label=${this.tileName(tile)} tabindex=${tile === (this.chosen ?? 0) ? 0 : -1}
            aria-pressed=${tile === this.chosen ? 'true' : 'false'} @click=${() => this.#choose(tile)}></button>`,
      )}</div>
    </div>`;
  }

  /** One pixel per value, half a pixel of paper around each tile. */
  protected override updated(): void {
    const context = this.renderRoot.querySelector('canvas')?.getContext('2d');
    if (!context || !this.numbers) return;
    const { tiles, rows, columns } = this.#shape;
    const scale = Math.max(1, Math.min(8, Math.floor(mostPixels / (this.across * (columns + 1)))));
    const { canvas } = context;
    const { current } = theme;
    const colour = (value: number) =>
      this.scale === 'weights' ? weight(value, current) : signed(value, this.bound, current);
    canvas.width = this.across * (columns + 1) * scale;
    canvas.height = Math.ceil(tiles / this.across) * (rows + 1) * scale;
    for (let tile = 0; tile < tiles; tile++) {
      const left = ((tile % this.across) * (columns + 1) + 0.5) * scale;
      const top = (Math.floor(tile / this.across) * (rows + 1) + 0.5) * scale;
      for (let i = 0; i < rows * columns; i++) {
        const value = this.numbers.data[tile * rows * columns + i] ?? 0;
        context.fillStyle = `rgb(${colour(value).join(' ')})`;
        context.fillRect(left + (i % columns) * scale, top + Math.floor(i / columns) * scale, scale, scale);
      }
    }
  }

  #choose(tile: number): void {
    this.dispatchEvent(new CustomEvent('tile-select', { detail: { tile }, bubbles: true, composed: true }));
  }

  #key(event: KeyboardEvent): void {
    rove(event, [...this.renderRoot.querySelectorAll<HTMLElement>('button')], this.across);
  }
}

customElements.define('tile-grid', TileGrid);
