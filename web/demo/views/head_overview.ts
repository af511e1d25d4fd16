// Every head of every layer as a small map, to choose one from. One canvas under a grid of radio buttons.

import { css, html, LitElement, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import type { AttentionMaps } from '../state/attention_maps.js';
import type { ColourScale } from '../state/colour_scale.js';
import { capacityFor, mapExtent, WeightImage } from '../state/weight_image.js';
import { type CanvasColours, canvasColours } from './canvas_colours.js';
import { SizedCanvas } from './sized_canvas.js';
import { shared } from './styles.js';

export interface HeadChoice {
  layer: number;
  head: number;
}

/** Most pixels along one small map; larger maps show the strongest weight of each block. */
const mostPixels = 48;
/** Part of a button's side that the map takes. */
const fill = 0.86;

export class HeadOverview extends LitElement {
  static override properties: PropertyDeclarations = {
    store: { attribute: false },
    revision: { attribute: false },
    scale: { attribute: false },
    layer: { attribute: false },
    head: { attribute: false },
    growing: { type: Boolean },
  };
  declare store: AttentionMaps;
  declare revision: number;
  declare scale: ColourScale;
  declare layer: number;
  declare head: number;
  declare growing: boolean;
  #canvas = new SizedCanvas(this);
  #images: WeightImage[] = [];
  #colours!: CanvasColours;

  static override styles = [
    shared,
    css`
      .scroll { overflow-x: auto; overscroll-behavior-x: contain; padding: 3px; margin: 3px -3px -3px; }
      .all { display: grid; grid-template-columns: 18px minmax(min-content, max-content); grid-template-rows: 18px auto; justify-content: start; }
      .heads, .layers { display: grid; font-size: 0.75rem; color: var(--muted); text-align: center; align-items: center; }
      .heads { grid-column: 2; }
      .stack { position: relative; }
      canvas { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; }
      .grid { display: grid; }
      .heads, .grid { grid-template-columns: repeat(var(--heads), minmax(26px, 42px)); }
      .layers { grid-template-rows: repeat(var(--layers), 1fr); }
      button { min-height: 0; padding: 0; aspect-ratio: 1; border: 0; border-radius: 5px; background: none; }
      button:hover:not(:disabled) { background: none; box-shadow: inset 0 0 0 1px var(--line-strong); }
      button[aria-checked='true'] { box-shadow: inset 0 0 0 2px var(--focus); }
    `,
  ];

  constructor() {
    super();
    this.revision = 0;
    this.layer = 0;
    this.head = 0;
    this.growing = false;
  }

  override render(): TemplateResult {
    const { layers, heads } = this.store;
    const count = (length: number): number[] => Array.from({ length }, (_, i) => i);
    return html`<h3>${layers} layers × ${heads} heads</h3>
      <div class="scroll">
      <div class="all" style=${styleMap({ '--heads': `${heads}`, '--layers': `${layers}` })}>
        <div class="heads" aria-hidden="true">${count(heads).map((i) => html`<span>${i + 1}</span>`)}</div>
        <div class="layers" aria-hidden="true">${count(layers).map((i) => html`<span>${i + 1}</span>`)}</div>
        <div class="stack">
          <canvas></canvas>
          <div class="grid" role="radiogroup" aria-label="Layer and head" @keydown=${this.#onKey}>
            ${count(layers * heads).map((i) => this.#button(Math.floor(i / heads), i % heads))}
          </div>
        </div>
      </div>
    </div>`;
  }

  #button(layer: number, head: number): TemplateResult {
    const chosen = layer === this.layer && head === this.head;
    const name = `Layer ${layer + 1}, head ${head + 1}`;
    return html`<button
      role="radio" aria-checked=${chosen ? 'true' : 'false'} tabindex=${chosen ? 0 : -1} aria-label=${name} title=${name}
      @click=${() => this.#pick({ layer, head })}
    ></button>`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('store')) this.#images = [];
    if (changed.has('scale')) this.#colours = canvasColours(this);
    this.#paint();
  }

  #paint(): void {
    const context = this.#canvas.context();
    if (!context) return;
    const { layers, heads } = this.store;
    const images = this.#imagesNow();
    const side = images[0]?.side ?? 1;
    const flat = new OffscreenCanvas(heads * side, layers * side);
    const ink = flat.getContext('2d');
    if (!ink) return;
    const data = ink.createImageData(flat.width, flat.height);
    images.forEach((image, i) => {
      image.paint(this.scale, data.data, flat.width, (i % heads) * side, Math.floor(i / heads) * side);
    });
    ink.putImageData(data, 0, 0);
    this.#place(context, flat, side);
  }

  #place(context: CanvasRenderingContext2D, flat: OffscreenCanvas, side: number): void {
    const { layers, heads } = this.store;
    const { width, height } = this.#canvas;
    const extent = mapExtent(this.store, this.#images[0]?.capacity ?? 1);
    const [across, down] = [width / heads, height / layers];
    const room = Math.round(Math.min(across, down) * fill);
    context.clearRect(0, 0, width, height);
    context.imageSmoothingEnabled = side > room;
    context.fillStyle = this.#colours.future;
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < heads; head++) {
        const x = Math.round(head * across + (across - room) / 2);
        const y = Math.round(layer * down + (down - room) / 2);
        context.fillRect(x, y, room * extent.columns, room * extent.rows);
        context.drawImage(flat, head * side, layer * side, side, side, x, y, room, room);
      }
    }
  }

  #imagesNow(): WeightImage[] {
    const { rows, columns, layers, heads } = this.store;
    const most = Math.max(rows, columns, 4);
    const capacity = this.growing ? capacityFor(most) : most;
    if (this.#images[0]?.capacity !== capacity) {
      this.#images = Array.from({ length: layers * heads }, () => new WeightImage(capacity, mostPixels));
    }
    this.#images.forEach((image, i) => {
      while (image.rows < rows) image.addRow(this.store.row(Math.floor(i / heads), i % heads, image.rows));
    });
    return this.#images;
  }

  #onKey(event: KeyboardEvent): void {
    const { layers, heads } = this.store;
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const layer = (this.layer + move[0] + layers) % layers;
    const head = (this.head + move[1] + heads) % heads;
    this.#pick({ layer, head });
    this.renderRoot.querySelectorAll<HTMLElement>('[role=radio]')[layer * heads + head]?.focus();
  }

  #pick(choice: HeadChoice): void {
    this.dispatchEvent(new CustomEvent<HeadChoice>('head-pick', { detail: choice }));
  }
}

customElements.define('head-overview', HeadOverview);
