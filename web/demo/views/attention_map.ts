// The attention map of one head: a line for each token that looks (query), a column for each token looked at (key).
// Pointing, touching or the arrow keys choose a cell; the page shows its weight.

import { css, html, LitElement, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import type { AttentionMaps } from '../state/attention_maps.js';
import type { ColourScale } from '../state/colour_scale.js';
import { type Cell, MapGeometry, type MapWindow, windowAround } from '../state/map_geometry.js';
import { capacityFor, WeightImage } from '../state/weight_image.js';
import { type CanvasColours, canvasColours } from './canvas_colours.js';
import { paintMap } from './map_painter.js';
import { SizedCanvas } from './sized_canvas.js';
import { shared } from './styles.js';

const wideGutter = 66;
const narrowGutter = 52;
const closeUpCells = 20;
const keyHelp = 'Arrow keys move from cell to cell, Enter keeps a token in focus, Escape leaves.';

export class AttentionMap extends LitElement {
  static override properties: PropertyDeclarations = {
    store: { attribute: false },
    revision: { attribute: false },
    layer: { attribute: false },
    head: { attribute: false },
    scale: { attribute: false },
    texts: { attribute: false },
    keyTexts: { attribute: false },
    query: { attribute: false },
    cell: { attribute: false },
    growing: { type: Boolean },
    closeUp: { type: Boolean, attribute: 'close-up' },
  };
  declare store: AttentionMaps;
  /** Changes whenever rows were added. */
  declare revision: number;
  declare layer: number;
  declare head: number;
  declare scale: ColourScale;
  /** Names of the lines, and of the columns where these are other tokens. */
  declare texts: readonly string[];
  declare keyTexts: readonly string[] | undefined;
  /** The query whose row is in focus. */
  declare query: number | undefined;
  declare cell: Cell | undefined;
  declare growing: boolean;
  declare closeUp: boolean;
  #canvas = new SizedCanvas(this);
  #image: WeightImage | undefined;
  #colours!: CanvasColours;
  #font = '';
  #shown: MapWindow | undefined;
  #geometry: MapGeometry | undefined;

  static override styles = [
    shared,
    css`
      :host { container-type: inline-size; }
      canvas {
        display: block;
        width: 100%;
        height: calc(${wideGutter}px + (100cqw - ${wideGutter}px) * var(--tall, 1));
        border-radius: 6px;
        cursor: crosshair;
        touch-action: pan-y;
      }
    `,
  ];

  constructor() {
    super();
    this.revision = 0;
    this.layer = 0;
    this.head = 0;
    this.texts = [];
    this.growing = false;
    this.closeUp = false;
  }

  override render(): TemplateResult {
    return html`<canvas
      style=${styleMap({ '--tall': `${this.#tall}` })}
      tabindex="0"
      role="application"
      aria-roledescription="attention map"
      aria-label=${`Attention map of layer ${this.layer + 1}, head ${this.head + 1}. ${keyHelp}`}
      @pointermove=${this.#onPoint}
      @pointerdown=${this.#onPoint}
      @pointerleave=${(event: PointerEvent) => event.pointerType === 'mouse' && this.#emit('cell-hover', undefined)}
      @click=${() => this.cell && this.#emit('token-pick', this.cell.query)}
      @keydown=${this.#onKey}
    ></canvas>`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('store') || changed.has('layer') || changed.has('head')) this.#image = undefined;
    if (changed.has('store') || changed.has('closeUp')) this.#shown = undefined;
    if (changed.has('scale')) this.#colours = canvasColours(this);
    this.#font ||= getComputedStyle(this).fontFamily;
    this.#paint();
  }

  #paint(): void {
    const context = this.#canvas.context();
    if (!context) return;
    const { ratio, width } = this.#canvas;
    const gutter = Math.round((width < 420 * ratio ? narrowGutter : wideGutter) * ratio);
    this.#shown = this.#windowNow();
    this.#geometry = new MapGeometry(this.#shown, width - gutter - 3 * Math.ceil(ratio), gutter, gutter);
    paintMap(context, {
      store: this.store,
      layer: this.layer,
      head: this.head,
      scale: this.scale,
      texts: this.texts,
      keyTexts: this.keyTexts ?? this.texts,
      geometry: this.#geometry,
      image: this.closeUp ? undefined : this.#imageNow(this.#geometry),
      query: this.query,
      cell: this.cell,
      ratio,
      font: this.#font,
      colours: this.#colours,
    });
  }

  #windowNow(): MapWindow {
    const { rows, kind } = this.store;
    const all = cellsAlong(this.store);
    if (!this.closeUp) return { query: 0, key: 0, count: this.growing ? capacityFor(all) : all };
    const query = this.query ?? Math.max(0, rows - 1);
    const cell = this.cell ?? { query, key: kind === 'cross' ? 0 : query };
    return windowAround(cell, Math.min(closeUpCells, all), all, this.#shown);
  }

  /** Height of the map as a part of its width: a map with few lines takes no more room than they need. */
  get #tall(): number {
    const { kind, rows } = this.store;
    return kind === 'causal' || this.closeUp ? 1 : Math.max(rows, 1) / cellsAlong(this.store);
  }

  /** The image brought up to date with the store's rows. */
  #imageNow({ window, factor }: MapGeometry): WeightImage {
    const { rows } = this.store;
    let image = this.#image;
    if (!image || image.capacity !== window.count || image.factor !== factor || image.rows > rows) {
      image = new WeightImage(window.count, Math.ceil(window.count / factor));
      this.#image = image;
    }
    while (image.rows < rows) image.addRow(this.store.row(this.layer, this.head, image.rows));
    return image;
  }

  #onPoint(event: PointerEvent): void {
    const box = (event.target as HTMLElement).getBoundingClientRect();
    const factor = this.#canvas.width / box.width;
    const at = this.#geometry?.cellAt((event.clientX - box.left) * factor, (event.clientY - box.top) * factor);
    const within = at && at.key < this.store.row(this.layer, this.head, at.query).length;
    this.#emit('cell-hover', within ? at : undefined);
  }

  #onKey(event: KeyboardEvent): void {
    const last = this.store.rows - 1;
    if (last < 0) return;
    if (event.key === 'Escape') this.#emit('cell-hover', undefined);
    else if (event.key === 'Enter') this.#emit('token-pick', this.cell?.query);
    else {
      const at = this.cell ?? { query: Math.min(this.query ?? last, last), key: 0 };
      const moved = this.cell ? movedBy(event.key, at) : isArrow(event.key) ? at : undefined;
      if (!moved) return;
      this.#emit('cell-hover', this.#inside(moved));
    }
    event.preventDefault();
  }

  /** The nearest cell that has a weight. */
  #inside({ query, key }: Cell): Cell {
    const line = Math.min(this.store.rows - 1, Math.max(0, query));
    const keys = this.store.row(this.layer, this.head, line).length;
    return { query: line, key: Math.min(keys - 1, Math.max(0, key)) };
  }

  #emit(name: 'cell-hover' | 'token-pick', detail: Cell | number | undefined): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

customElements.define('attention-map', AttentionMap);

/** Cells along the longer side of a map; a text that has just begun gets some room. */
function cellsAlong({ rows, columns }: AttentionMaps): number {
  return Math.max(rows, columns, 4);
}

function isArrow(key: string): boolean {
  return key.startsWith('Arrow');
}

/** The cell that a key leads to; it may lie outside the map. */
function movedBy(key: string, { query, key: column }: Cell): Cell | undefined {
  const moves: Record<string, [number, number]> = {
    ArrowUp: [query - 1, column],
    ArrowDown: [query + 1, column],
    ArrowLeft: [query, column - 1],
    ArrowRight: [query, column + 1],
    PageUp: [query - 10, column],
    PageDown: [query + 10, column],
    Home: [query, 0],
    End: [query, Number.POSITIVE_INFINITY],
  };
  const move = moves[key];
  return move && { query: move[0], key: move[1] };
}
