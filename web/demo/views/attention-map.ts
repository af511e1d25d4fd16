// The attention map of one head: a line for each token that looks (query), a column for each token looked at (key).
// Pointing, touching or the arrow keys choose a cell; the page shows its weight.
import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { AttentionStore } from '../state/attention-store.js';
import type { ColourScale } from '../state/colour-scale.js';
import { type Cell, MapGeometry, type MapWindow, windowAround } from '../state/map-geometry.js';
import { capacityFor, WeightImage } from '../state/weight-image.js';
import { type CanvasColours, canvasColours } from './canvas-colours.js';
import { paintMap } from './map-painter.js';
import { SizedCanvas } from './sized-canvas.js';
import { shared } from './styles.js';

const kGutter = 66;
const kNarrowGutter = 52;
const kCloseUp = 20;
const kKeys = 'Arrow keys move from cell to cell, Enter keeps a token in focus, Escape leaves.';

@customElement('attention-map')
export class AttentionMap extends LitElement {
  @property({ attribute: false }) store!: AttentionStore;
  /** Changes whenever rows were added. */
  @property({ attribute: false }) revision = 0;
  @property({ attribute: false }) layer = 0;
  @property({ attribute: false }) head = 0;
  @property({ attribute: false }) scale!: ColourScale;
  @property({ attribute: false }) texts: readonly string[] = [];
  /** The query whose row is in focus. */
  @property({ attribute: false }) query: number | undefined;
  @property({ attribute: false }) cell: Cell | undefined;
  @property({ type: Boolean }) growing = false;
  @property({ type: Boolean, attribute: 'close-up' }) closeUp = false;
  private canvas = new SizedCanvas(this);
  private image: WeightImage | undefined;
  private colours!: CanvasColours;
  private font = '';
  private shown: MapWindow | undefined;
  private geometry: MapGeometry | undefined;

  static override styles = [
    shared,
    css`
      canvas {
        display: block;
        width: 100%;
        aspect-ratio: 1;
        border-radius: 6px;
        cursor: crosshair;
        touch-action: pan-y;
      }
    `,
  ];

  override render(): TemplateResult {
    return html`<canvas
      tabindex="0"
      role="application"
      aria-roledescription="attention map"
      aria-label=${`Attention map of layer ${this.layer + 1}, head ${this.head + 1}. ${kKeys}`}
      @pointermove=${this.onPoint}
      @pointerdown=${this.onPoint}
      @pointerleave=${(event: PointerEvent) => event.pointerType === 'mouse' && this.emit('cell-hover', undefined)}
      @click=${() => this.cell && this.emit('token-pick', this.cell.query)}
      @keydown=${this.onKey}
    ></canvas>`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('store') || changed.has('layer') || changed.has('head')) this.image = undefined;
    if (changed.has('store') || changed.has('closeUp')) this.shown = undefined;
    if (changed.has('scale')) this.colours = canvasColours(this);
    this.font ||= getComputedStyle(this).fontFamily;
    this.paint();
  }

  private paint(): void {
    const context = this.canvas.context();
    if (!context) return;
    const { ratio, width } = this.canvas;
    const gutter = Math.round((width < 420 * ratio ? kNarrowGutter : kGutter) * ratio);
    this.shown = this.windowNow();
    this.geometry = new MapGeometry(this.shown, width - gutter - 3 * Math.ceil(ratio), gutter, gutter);
    paintMap(context, {
      store: this.store,
      layer: this.layer,
      head: this.head,
      scale: this.scale,
      texts: this.texts,
      geometry: this.geometry,
      image: this.closeUp ? undefined : this.imageNow(this.geometry),
      query: this.query,
      cell: this.cell,
      ratio,
      font: this.font,
      colours: this.colours,
    });
  }

  private windowNow(): MapWindow {
    const { rows } = this.store;
    if (!this.closeUp) return { query: 0, key: 0, count: this.growing ? capacityFor(rows) : Math.max(rows, 4) };
    const at = this.query ?? Math.max(0, rows - 1);
    return windowAround(
      this.cell ?? { query: at, key: at },
      Math.min(kCloseUp, Math.max(rows, 4)),
      Math.max(rows, 4),
      this.shown,
    );
  }

  /** The image brought up to date with the store's rows. */
  private imageNow({ window, factor }: MapGeometry): WeightImage {
    const { rows } = this.store;
    let image = this.image;
    if (!image || image.capacity !== window.count || image.factor !== factor || image.rows > rows) {
      image = new WeightImage(window.count, Math.ceil(window.count / factor));
      this.image = image;
    }
    while (image.rows < rows) image.addRow(this.store.row(this.layer, this.head, image.rows));
    return image;
  }

  private onPoint(event: PointerEvent): void {
    const box = (event.target as HTMLElement).getBoundingClientRect();
    const factor = this.canvas.width / box.width;
    const at = this.geometry?.cellAt((event.clientX - box.left) * factor, (event.clientY - box.top) * factor);
    const within = at && at.query < this.store.rows && at.key <= at.query;
    this.emit('cell-hover', within ? at : undefined);
  }

  private onKey(event: KeyboardEvent): void {
    const last = this.store.rows - 1;
    if (last < 0) return;
    if (event.key === 'Escape') this.emit('cell-hover', undefined);
    else if (event.key === 'Enter') this.emit('token-pick', this.cell?.query);
    else {
      const at = this.cell ?? { query: Math.min(this.query ?? last, last), key: 0 };
      const moved = this.cell ? movedBy(event.key, at, last) : isArrow(event.key) ? at : undefined;
      if (!moved) return;
      this.emit('cell-hover', moved);
    }
    event.preventDefault();
  }

  private emit(name: 'cell-hover' | 'token-pick', detail: Cell | number | undefined): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

function isArrow(key: string): boolean {
  return key.startsWith('Arrow');
}

/** The cell that a key leads to; stays on and below the diagonal. */
function movedBy(key: string, { query, key: column }: Cell, last: number): Cell | undefined {
  const moves: Record<string, [number, number]> = {
    ArrowUp: [query - 1, column],
    ArrowDown: [query + 1, column],
    ArrowLeft: [query, column - 1],
    ArrowRight: [query, column + 1],
    PageUp: [query - 10, column],
    PageDown: [query + 10, column],
    Home: [query, 0],
    End: [query, query],
  };
  const move = moves[key];
  if (!move) return undefined;
  const line = Math.min(last, Math.max(0, move[0]));
  return { query: line, key: Math.min(line, Math.max(0, move[1])) };
}
