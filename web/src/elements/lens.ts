// <cf-lens>: the logit lens, the most probable token and its probability at each position after each layer.

import { css, html, nothing, type TemplateResult } from 'lit';
import { define, ElementBase, type Properties, sharedStyles, tell } from './base.js';
import { cssColour, inkOn, weight } from './colours.js';
import { percent } from './formats.js';
import { movedBy } from './matrix/keys.js';
import { ModelTask } from './model_task.js';
import { type Cell, type Drawn, faultOf, type Numbers, sameCell } from './numbers.js';
import { type Token, visibleToken } from './token_pieces.js';
import { words } from './words.js';

/** A prediction and its probability. */
export interface LensCell {
  readonly token: string;
  readonly probability: number;
}

/** A cell of the lens, counted from the input up. */
export interface LensPlace {
  readonly layer: number;
  readonly position: number;
}

/**
 * A grid of the logit lens, with the last layer on top: of `cells`, or of a model that it runs itself (`model`,
 * `text`).
 * Events: `lens-point` { layer, position } or null, `lens-select` { layer, position }.
 */
export class CfLens extends ElementBase implements Drawn {
  /** @internal */
  static styles = [
    sharedStyles,
    css`
      [role='grid'] {
        display: grid;
        width: max-content;
        min-width: 100%;
        outline: none;
        font: max(14px, var(--_min-font-size)) / 1.2 var(--_serif);
        -webkit-tap-highlight-color: transparent;
      }
      [role='row'],
      [role='rowgroup'] {
        display: contents;
      }
      [role='rowheader'],
      [role='columnheader'] {
        padding: 4px 8px 4px 0;
        color: var(--_muted);
        white-space: nowrap;
        text-align: right;
        font: max(12.5px, var(--_min-font-size)) / 1.5 var(--_sans);
      }
      [role='rowheader'],
      [role='none'] {
        position: sticky;
        left: 0;
        z-index: 1;
        background: var(--_paper);
      }
      [role='columnheader'] {
        padding: 4px 2px;
        text-align: center;
        color: var(--_ink);
        font: max(14.5px, var(--_min-font-size)) / 1.5 var(--_serif);
        overflow: hidden;
        text-overflow: ellipsis;
      }
      [role='gridcell'] {
        box-sizing: border-box;
        margin: 0.5px;
        padding: 4px 2px;
        min-height: 26px;
        text-align: center;
        white-space: pre;
        overflow: hidden;
        text-overflow: ellipsis;
        border-radius: 1.5px;
        cursor: default;
        forced-color-adjust: none;
      }
      .chosen {
        box-shadow: inset 0 0 0 2.4px var(--_ink);
      }
      [role='grid']:focus-visible .at {
        outline: 2.4px solid var(--_accent);
        outline-offset: -1px;
      }
    `,
  ];
  /** @internal */
  static override properties: Properties = {
    cells: { attribute: false, initial: [], form: [[{ token: 'string', probability: 'number' }]] },
    labels: { attribute: false, initial: [], form: ['string'] },
    rowLabels: { attribute: false, initial: [], form: ['string'] },
    source: { initial: '' },
    selected: { attribute: false, form: { layer: 'index', position: 'index' } },
    model: {},
    text: { initial: '' },
    active: { state: true, initial: { row: 0, column: 0 } },
  };

  /** [layer][position], from the input up. With a `model` the element sets them itself, like `labels` and `source`. */
  declare cells: readonly (readonly LensCell[])[];
  /** The tokens of the text, one per position. */
  declare labels: readonly string[];
  /** Names of the layers, from the input up; default: start, after layer 1, … */
  declare rowLabels: readonly string[];
  declare source: string;
  declare selected: LensPlace | undefined;
  /** A Hub id, or the URL of a checkpoint's folder. */
  declare model: string | undefined;
  declare text: string;
  /** @internal Row 0 is on top. */
  declare active: Cell;
  readonly #task = new ModelTask(this);
  #pointed: Cell | undefined;

  /** Probabilities [layer, position]. */
  get numbers(): Numbers | undefined {
    if (this.cells.length === 0 || this.misfit !== undefined) return undefined;
    const data = this.cells.flatMap((row) => row.map(({ probability }) => probability));
    return { dims: [this.cells.length, this.cells[0]?.length ?? 0], data };
  }

  /** @internal */
  willUpdate(): void {
    const { model, text } = this;
    this.#task.start([model, text], {
      run: ({ running, ...tools }) => running.lensOf({ ...tools, text }),
      shown: ({ cells, source, tokens }) => ({
        cells,
        source,
        labels: tokens.map((token: Token) => visibleToken(token.text)),
      }),
      failed: () => {
        this.cells = [];
      },
    });
  }

  /** @internal */
  fault(): string | undefined {
    const { labels, cells } = this;
    const positions = cells[0]?.length ?? 0;
    if (cells.length > 0 && labels.length > 0 && labels.length !== positions)
      return `${positions} positions, but ${labels.length} labels`;
    return faultOf(this);
  }

  /** @internal */
  draw(): TemplateResult | typeof nothing {
    const status = this.#task.status();
    if (this.cells.length === 0) return status;
    const rows = this.cells.map((_, row) => this.#row(row)).reverse();
    return html`${status}<div class="sideways"><div
        role="grid" tabindex="0" aria-label=${words().lens} aria-activedescendant=${this.#id(this.#at)}
        @keydown=${this.#key} @pointermove=${this.#move} @pointerleave=${() => this.#point(undefined)} @click=${this.#click}
      >${rows}${this.#headers()}</div></div>`;
  }

  /** `active` within the grid, which may have become smaller. */
  get #at(): Cell {
    const { row, column } = this.active;
    return { row: Math.min(row, this.cells.length - 1), column: Math.min(column, (this.cells[0]?.length ?? 1) - 1) };
  }

  #id({ row, column }: Cell): string {
    return `cell-${row}-${column}`;
  }

  #rowName(layer: number): string {
    return this.rowLabels[layer] ?? (layer === 0 ? words().start : `${words().afterLayer} ${layer}`);
  }

  #row(layer: number): TemplateResult {
    const row = this.cells.length - 1 - layer;
    return html`<div role="row"><span role="rowheader">${this.#rowName(layer)}</span>${this.cells[layer]?.map(
      (cell, column) => this.#cell(cell, { row, column }, layer),
    )}</div>`;
  }

  #cell({ token, probability }: LensCell, place: Cell, layer: number): TemplateResult {
    const shown = visibleToken(token);
    const chosen = this.selected?.layer === layer && this.selected.position === place.column;
    const where = `${this.#rowName(layer)}, ${(this.labels[place.column] ?? String(place.column + 1)).trim()}`;
    return html`<span
      role="gridcell" id=${this.#id(place)} class="${chosen ? 'chosen' : ''} ${sameCell(place, this.#at) ? 'at' : ''}"
      aria-label="${where}: ${shown.trim()}, ${percent(probability)}" title="${shown.trim()} ${percent(probability)}"
      data-row=${place.row} data-column=${place.column}
    >${shown.trimStart()}</span>`;
  }

  #headers(): TemplateResult | typeof nothing {
    if (this.labels.length === 0) return nothing;
    return html`<div role="row"><span role="none"></span>${this.labels.map(
      (label) => html`<span role="columnheader" title=${label}>${label.trim()}</span>`,
    )}</div>`;
  }

  /** @internal */
  updated(): void {
    const grid = this.renderRoot.querySelector<HTMLElement>('[role=grid]');
    if (!grid) return;
    const columns = this.cells[0]?.length ?? 0;
    grid.style.setProperty(
      'grid-template-columns',
      `max-content repeat(${columns}, minmax(${Math.max(46, 3 * this.minFontSize)}px, 1fr))`,
    );
    const shares = [...this.cells].reverse().flat();
    grid.querySelectorAll<HTMLElement>('[role=gridcell]').forEach((cell, i) => {
      const rgb = weight(shares[i]?.probability ?? 0, this.theme);
      cell.style.background = cssColour(rgb);
      cell.style.color = cssColour(inkOn(rgb));
    });
  }

  #place({ row, column }: Cell): LensPlace {
    return { layer: this.cells.length - 1 - row, position: column };
  }

  #under(event: Event): Cell | undefined {
    const cell = (event.target as Element).closest<HTMLElement>('[role=gridcell]');
    return cell ? { row: Number(cell.dataset.row), column: Number(cell.dataset.column) } : undefined;
  }

  #point(cell: Cell | undefined): void {
    if (sameCell(cell, this.#pointed)) return;
    this.#pointed = cell;
    tell(this, 'lens-point', cell === undefined ? null : this.#place(cell));
  }

  #move(event: PointerEvent): void {
    if (event.pointerType !== 'touch') this.#point(this.#under(event));
  }

  #click(event: Event): void {
    const cell = this.#under(event);
    if (cell === undefined) return;
    this.active = cell;
    this.#select();
  }

  #select(): void {
    this.selected = this.#place(this.#at);
    tell(this, 'lens-select', this.selected);
  }

  #key(event: KeyboardEvent): void {
    const size = { rows: this.cells.length, columns: this.cells[0]?.length ?? 0 };
    const to = event.altKey ? undefined : movedBy(event, this.#at, size);
    if (to !== undefined) {
      this.active = to;
      this.#point(to);
      this.renderRoot.querySelector(`#${this.#id(to)}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    } else if (event.key === 'Enter' || event.key === ' ') this.#select();
    else return;
    event.preventDefault();
  }
}

define('cf-lens', CfLens);

declare global {
  interface HTMLElementTagNameMap {
    'cf-lens': CfLens;
  }
}
