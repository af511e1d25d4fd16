// <head-canvas>: the six matrices of a head on one screen, with wires in the gaps, the read-out of a cell above Q and
// the chosen row's weights as bars on A's columns. Events: head-point, head-select, head-edit, head-stage.

import type { Cell, CellEdit, CfMatrix, Rails } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { stageHeight } from '../../book/class_mode.js';
import { OwnWidth, ThemeColours } from '../../book/controllers.js';
import type { EditSpec } from '../../book/edits.js';
import { figureStyles } from '../../book/figure_styles.js';
import { vars } from '../../book/vars.js';
import { windowAround } from '../../book/window.js';
import { type Geometry, geometryOf, labelsAbove, labelWidths, type Spans } from './geometry.js';
import type { HeadData, MatrixName, Stage } from './head_numbers.js';
import { overlay } from './overlay.js';
import type { Projections } from './read_weights.js';
import { readout, readoutStyles } from './readout.js';
import type { Selected } from './selection.js';
import { type Views, viewsOf } from './views.js';
import { captionRoom, wallGeometry } from './wall_geometry.js';

/** A symbol of the formula. */
export type FormulaPart = 'q' | 'k' | 'd' | 'm' | 'soft' | 'v';
type Labels = Readonly<Record<string, string>>;

const order = ['Q', 'K', 'S', 'A', 'V', 'Z'] as const;
/**
 * Heights in class mode: of the formula, of the buttons under S below its caption, and of the note on the window of
 * tokens.
 */
const around = { formula: 56, buttons: 12, note: 36 };
/** Up to `whole` tokens are all drawn; of more, a window of `part`. */
export const tokensShown = (minFont: number): [whole: number, part: number] => (minFont > 0 ? [10, 9] : [12, 10]);
const hues = { Q: 'q', K: 'k', V: 'v', S: 'ink', A: 'ink', Z: 'ink' } as const;
const tellingOf = (host: HTMLElement, type: string, detail: unknown): boolean =>
  host.dispatchEvent(new CustomEvent(type, { detail }));

class HeadCanvas extends LitElement {
  static override properties: PropertyDeclarations = {
    data: { attribute: false },
    stage: {},
    selected: { attribute: false },
    edits: { attribute: false },
    symbol: {},
    hiding: { type: Boolean },
    minFont: { type: Number },
    labels: { attribute: false },
    projections: { attribute: false },
    hovered: { state: true },
    product: { state: true },
  };
  declare data: HeadData | undefined;
  declare stage: Stage;
  declare selected: Selected;
  declare edits: readonly EditSpec[];
  /** The formula's symbol under the pointer. */
  declare symbol: FormulaPart | undefined;
  /** Whether the row of weights is hidden while a class guesses. */
  declare hiding: boolean;
  /** Minimum font size in CSS pixels; 0: default sizes. */
  declare minFont: number;
  declare labels: Labels;
  declare projections: Projections | undefined;
  declare private hovered: Selected | undefined;
  /** The index of the read-out's product under the pointer. */
  declare private product: number | undefined;
  #views: Views | undefined;
  #geometry: Geometry | undefined;
  #viewKey: readonly unknown[] = [];
  readonly #rails = new Map<string, Rails>();
  readonly #corners = new Map<string, { left: number; top: number }>();
  readonly #box = new OwnWidth(this);

  static override styles = [
    figureStyles,
    readoutStyles,
    css`
      .canvas { position: relative; height: var(--height); overflow-x: clip; } /* matrices are wider than their pictures */
      cf-matrix { position: absolute; }
      .over { position: absolute; inset: 0; pointer-events: none; overflow: visible; z-index: 1; }
      .corner { position: absolute; left: var(--left); top: 4px; width: var(--width); height: var(--corner-height); }
      .stages { position: absolute; left: var(--left); top: var(--top); font-size: max(12.5px, var(--cf-min-font-size)); z-index: 2; }
      .stages button { padding: 2px 9px; min-height: 24px; }
      .over .reads { font: max(18px, var(--cf-min-font-size)) var(--cf-serif); }
      .over .share { font-size: max(12px, var(--cf-min-font-size)); }
      .q-fill { fill: var(--cf-q); } .muted-fill { fill: var(--cf-muted); }
    `,
  ];

  constructor() {
    super();
    new ThemeColours(this);
    this.stage = 'masked';
    this.edits = [];
    this.minFont = 0;
    this.labels = {};
  }

  get #at(): Selected {
    return this.hovered ?? this.selected;
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('data')) this.hovered = undefined;
    if (changed.has('data') || changed.has('selected')) this.product = undefined;
  }

  #spans({ now, focus }: HeadData): Spans {
    const [queries = 0, inner = 0] = now.Q.dims;
    const [keys = 0, outer = 0] = now.V.dims;
    const { matrix, column } = this.selected;
    const tokens = {
      queries: windowAround(focus, queries, ...tokensShown(this.minFont)),
      keys: windowAround(Math.min(focus, keys - 1), keys, ...tokensShown(this.minFont)),
    };
    const wide = this.#box.width - 280 > 22 * (2 * tokens.keys.count + inner + outer);
    const block = (of: number, place: number): Spans['inner'] => {
      if (of <= 8 || (of <= 16 && wide)) return { from: 0, count: of, of };
      const from = Math.min(Math.floor(place / 8) * 8, of - 8);
      return { from, count: 8, of };
    };
    return {
      ...tokens,
      inner: block(inner, matrix === 'Q' || matrix === 'K' ? column : 0),
      outer: block(outer, matrix === 'V' || matrix === 'Z' ? column : 0),
    };
  }

  /** Rebuilt only for the parts that changed, so that pointing at a cell re-renders no other. */
  #viewsFor(data: HeadData, spans: Spans, secretRow: number): Views {
    const key = [data, this.stage, secretRow, JSON.stringify([spans, this.edits])];
    if (!this.#views || key.some((part, i) => part !== this.#viewKey[i])) {
      this.#views = viewsOf({ data, spans, stage: this.stage, secretRow, edits: this.edits });
      this.#viewKey = key;
    }
    return this.#views;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { data } = this;
    if (!data || this.#box.width < 100) return html`<div class="canvas"></div>`;
    const spans = this.#spans(data);
    const secretRow = this.hiding ? data.focus : -1;
    const views = this.#viewsFor(data, spans, secretRow);
    const large = this.minFont > 0;
    const geometry = large ? this.#onWall(spans, views) : this.#onScreen(spans, views);
    this.#geometry = geometry;
    const context = {
      data,
      views,
      geometry,
      at: this.#at,
      stage: this.stage,
      labels: this.labels,
      secretRow,
      large,
      above: geometry.above,
    };
    const buttons =
      (this.#narrowScores(spans.keys.count * geometry.cell.width) ? 22 : 0) + (large ? around.buttons : 0);
    return html`<div class="canvas ${large ? 'large' : ''}" ${vars({ '--height': `${geometry.height + buttons}px` })}>
      ${order.filter((name) => geometry.shown.has(name)).map((name) => this.#matrix(name, views, geometry))}
      <div class="corner" ${vars({ '--left': `${geometry.left}px`, '--width': `${geometry.corner.width}px`, '--corner-height': `${geometry.corner.height}px` })}
        @pointerleave=${() => this.#point(undefined)}>
        ${readout({ ...context, product: this.product, point: this.#point, projections: this.projections })}
      </div>
      ${geometry.shown.has('S') ? this.#stages(geometry, spans) : nothing}
      ${overlay({ ...context, part: this.symbol, product: this.product, width: this.#box.width })}
    </div>`;
  }

  /** Whether S is too narrow for its buttons beside its shape. */
  #narrowScores(width: number): boolean {
    return width < (this.minFont > 0 ? 420 : 230);
  }

  #onScreen(spans: Spans, views: Views): Geometry {
    const room = {
      width: this.#box.width,
      height: Math.max(380, innerHeight - (52 + 78 + 158)),
      labels: Math.max(0, ...labelWidths([...views.Q.rowLabels, ...views.V.rowLabels])),
      above: 20,
    };
    const first = geometryOf(spans, room);
    const above = labelsAbove(labelWidths(views.A.columnLabels), first.cell.width);
    return above > 20 ? geometryOf(spans, { ...room, above }) : first;
  }

  /** Layout of class mode, where column labels are truncated, not rotated. */
  #onWall(spans: Spans, views: Views): Geometry {
    const { queries } = spans;
    const room = {
      width: this.#box.width,
      height: stageHeight() - around.formula - around.buttons - (queries.count < queries.of ? around.note : 0),
      labels: Math.max(0, ...labelWidths([...views.Q.rowLabels, ...views.V.rowLabels], this.minFont)),
      above: this.minFont + 6,
    };
    return wallGeometry(spans, room, this.selected.matrix);
  }

  #matrix(name: MatrixName, views: Views, geometry: Geometry): TemplateResult {
    const view = views[name];
    const { cell, places } = geometry;
    const corner = this.#corners.get(name) ?? { left: places[name].x - 8, top: places[name].y - 4 };
    const columns = name === 'K' ? view.rows.count : view.columns.count;
    const beside = this.minFont > 0 ? geometry.labels + 30 + Math.max(0, captionRoom - columns * cell.width) : 240;
    const width = columns * cell.width + beside;
    const mine = this.selected.matrix === name;
    const chosen = { row: this.selected.row - view.rows.from, column: this.selected.column - view.columns.from };
    return html`<cf-matrix data-name=${name} .numbers=${view.numbers} source=${view.source} label=${name} about=${this.labels[`about${name}`] ?? ''}
      hue=${hues[name]} .rowLabels=${view.rowLabels} .columnLabels=${view.columnLabels}
      quiet=${geometry.quiet[name]}
      scale=${name === 'A' ? 'weights' : 'signed'} .bound=${view.bound} ?transposed=${name === 'K'} caption=${geometry.captionsAbove.has(name) ? 'above' : 'below'}
      .masked=${view.masked} .changed=${view.changed} .edited=${view.edited} .secret=${view.secret} ?editable=${view.editable}
      .cellWidth=${cell.width} .cellHeight=${cell.height} .selected=${mine ? this.#stable(chosen) : undefined} .rails=${this.#railsOf(name, views)}
      ${vars({ left: `${corner.left}px`, top: `${corner.top}px`, width: `${width}px` })}
      @cell-point=${(event: CustomEvent<Cell | null>) => this.#pointed(view.name, event.detail)}
      @cell-select=${(event: CustomEvent<Cell>) => tellingOf(this, 'head-select', this.#whole(view.name, event.detail))}
      @cell-edit=${(event: CustomEvent<CellEdit>) => tellingOf(this, 'head-edit', { ...this.#whole(view.name, event.detail), value: event.detail.value })}
    ></cf-matrix>`;
  }

  readonly #cells = new Map<string, Cell>();
  /** The same object for the same cell, to avoid an update. */
  #stable({ row, column }: Cell): Cell {
    const key = `${row}.${column}`;
    const known = this.#cells.get(key) ?? { row, column };
    this.#cells.set(key, known);
    return known;
  }

  #whole(matrix: MatrixName, { row, column }: Cell): Selected {
    const view = this.#views?.[matrix];
    return { matrix, row: row + (view?.rows.from ?? 0), column: column + (view?.columns.from ?? 0) };
  }

  #pointed(matrix: MatrixName, cell: Cell | null): void {
    this.hovered = cell ? this.#whole(matrix, cell) : undefined;
    this.product = undefined;
    tellingOf(this, 'head-point', this.hovered);
  }

  #point = (product: number | undefined): void => {
    this.product = product;
  };

  #railsOf(name: MatrixName, views: Views): Rails | undefined {
    const { matrix, row, column } = this.#at;
    const { rows, columns } = views[name];
    const [r, c] = [row - rows.from, column - columns.from];
    const rails: Partial<Record<`${MatrixName}${MatrixName}`, Rails>> = {
      SQ: { rows: [r], rowHue: 'q' },
      SK: { rows: [column - rows.from], rowHue: 'k' },
      SS: { rows: [r], columns: [c], rowHue: 'q', columnHue: 'k' },
      AS: { rows: [r], rowHue: 'ink' },
      AA: { rows: [r], rowHue: 'ink' },
      ZA: { rows: [r], rowHue: 'ink' },
      ZV: { columns: [c], columnHue: 'v' },
      ZZ: { rows: [r], columns: [c], rowHue: 'ink', columnHue: 'v' },
    };
    const found = rails[`${matrix}${name}`];
    if (!found) return undefined;
    const key = JSON.stringify(found);
    const known = this.#rails.get(key) ?? found;
    this.#rails.set(key, known);
    return known;
  }

  #stages({ places, middle, cell }: Geometry, { queries, keys }: Spans): TemplateResult {
    const { labels } = this;
    const texts = { raw: labels.stageRaw, scaled: labels.stageScaled, masked: labels.stageMasked };
    const under = this.#narrowScores(keys.count * cell.width) ? 26 : 4; // beside the shape if both fit
    const top = middle + queries.count * cell.height + under;
    const place = { '--left': `${places.S.x + 14}px`, '--top': `${top}px` };
    return html`<div class="seg stages" role="group" aria-label=${labels.stages ?? ''} ${vars(place)}>${Object.entries(
      texts,
    ).map(
      ([stage, text]) =>
        html`<button type="button" aria-pressed=${stage === this.stage} @click=${() => tellingOf(this, 'head-stage', stage)}>${text}</button>`,
    )}</div>`;
  }

  /** Shifts each matrix so that its first cell is where the geometry places it, whatever the size of its labels. */
  protected override async updated(): Promise<void> {
    const canvas = this.renderRoot.querySelector('.canvas');
    const { data } = this;
    if (!canvas || !data || !this.#geometry) return;
    const matrices = [...this.renderRoot.querySelectorAll<CfMatrix & HTMLElement>('cf-matrix[data-name]')];
    await Promise.all(matrices.map((matrix) => matrix.updateComplete));
    const corner = canvas.getBoundingClientRect();
    const { places } = this.#geometry;
    for (const matrix of matrices) {
      const name = matrix.dataset.name as MatrixName;
      const box = matrix.cellBox(0, 0);
      if (box.width === 0) continue;
      const [dx, dy] = [places[name].x - (box.x - corner.x), places[name].y - (box.y - corner.y)];
      if (Math.abs(dx) < 0.3 && Math.abs(dy) < 0.3) continue;
      const place = { left: matrix.offsetLeft + dx, top: matrix.offsetTop + dy };
      this.#corners.set(name, place);
      matrix.style.left = `${place.left}px`;
      matrix.style.top = `${place.top}px`;
    }
  }
}

customElements.define('head-canvas', HeadCanvas);
