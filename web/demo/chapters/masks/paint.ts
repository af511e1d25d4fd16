// <mask-canvas>: a mask to paint. A press or a key toggles a cell, dragging sets all cells on its way to the same
// value.
// Event: mask-paint { row, column, sees, begins }.

import type { Cell, CfMatrix } from 'clearformer/elements';
import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import type { Float } from '../head/head_numbers.js';
import type { Allowed } from './mask_numbers.js';

export interface Painted extends Cell {
  /** The cell's new value. */
  readonly sees: boolean;
  /** Whether this is the first cell of a stroke. */
  readonly begins: boolean;
}

class MaskCanvas extends LitElement {
  static override properties: PropertyDeclarations = {
    added: { attribute: false },
    allowed: { attribute: false },
    labels: { attribute: false },
    source: {},
    about: {},
    cell: { attribute: false },
    selected: { attribute: false },
  };
  declare added: Float | undefined;
  declare allowed: Allowed;
  declare labels: readonly string[];
  declare source: string;
  declare about: string;
  declare cell: { width: number; height: number };
  declare selected: Cell | undefined;
  /** While painting: the value that cells are set to. */
  #stroke: boolean | undefined;
  #last = '';
  /** The press that begins a stroke is also dispatched as the matrix's selection, which is ignored. */
  #pressed = false;

  static override styles = css`
    :host { display: block; touch-action: none; }
    cf-matrix { cursor: cell; }
  `;

  protected override render(): TemplateResult | typeof nothing {
    if (!this.added) return nothing;
    const sees = (row: number, column: number): boolean => this.allowed[row]?.[column] ?? false;
    return html`<cf-matrix label="M" about=${this.about} scale="plain" digits="0" .numbers=${this.added} source=${this.source} .rowLabels=${this.labels} .columnLabels=${this.labels}
      .cellWidth=${this.cell.width} .cellHeight=${this.cell.height} .masked=${(row: number, column: number) => !sees(row, column)} .selected=${this.selected} .rails=${this.selected ? { rows: [this.selected.row], rowHue: 'q' } : undefined}
      @pointerdown=${this.#press} @pointermove=${this.#move} @pointerup=${this.#end} @pointercancel=${this.#end} @keydown=${this.#key}
      @cell-select=${(event: CustomEvent<Cell>) => this.#select(event.detail)}></cf-matrix>`;
  }

  #under({ clientX, clientY }: PointerEvent): Cell | undefined {
    const matrix = this.renderRoot.querySelector<CfMatrix & HTMLElement>('cf-matrix');
    const first = matrix?.cellBox(0, 0);
    if (!first || first.width === 0) return undefined;
    const row = Math.floor((clientY - first.y) / first.height);
    const column = Math.floor((clientX - first.x) / first.width);
    return this.allowed[row]?.[column] === undefined ? undefined : { row, column };
  }

  #press = (event: PointerEvent): void => {
    const cell = this.#under(event);
    if (!cell || event.button !== 0) return;
    this.#pressed = true;
    this.#stroke = !this.allowed[cell.row]?.[cell.column];
    this.#paint(cell, true);
  };

  #move = (event: PointerEvent): void => {
    if (this.#stroke === undefined || event.buttons === 0) return;
    const cell = this.#under(event);
    if (cell && this.#last !== `${cell.row}.${cell.column}`) this.#paint(cell, false);
  };

  #end = (): void => {
    this.#stroke = undefined;
  };

  #key = (): void => {
    this.#pressed = false;
  };

  #select({ row, column }: Cell): void {
    if (this.#pressed) {
      this.#pressed = false;
      return;
    }
    this.#stroke = !this.allowed[row]?.[column];
    this.#paint({ row, column }, true);
    this.#stroke = undefined;
  }

  #paint({ row, column }: Cell, begins: boolean): void {
    this.#last = `${row}.${column}`;
    const detail: Painted = { row, column, sees: this.#stroke ?? true, begins };
    this.dispatchEvent(new CustomEvent('mask-paint', { detail }));
  }
}

customElements.define('mask-canvas', MaskCanvas);
