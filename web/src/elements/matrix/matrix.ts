// <cf-matrix>: a matrix of numbers.

import { html, nothing, type TemplateResult } from 'lit';
import { define, ElementBase, type Properties, sharedStyles, tell } from '../base.js';
import {
  type Cell,
  cellForm,
  type Drawn,
  faultOf,
  type Numbers,
  numbersFromJson,
  sameCell,
  shapeOf,
  textsFromJson,
} from '../numbers.js';
import { forgetWidths } from '../svg.js';
import { words } from '../words.js';
import { Editor } from './editor.js';
import { movedBy } from './keys.js';
import { boxOf, type CaptionPlace, cellAt, type Layout } from './layout.js';
import type { CellTest, Digits, Scale } from './looks.js';
import { drawnShape, type Faces, layoutFor, type Quiet, type Rails, railsForm, tracksOf, viewOf } from './make_view.js';
import { Picture } from './picture.js';
import { matrixStyles } from './styles.js';
import { type Hue, hueForm, type MatrixView } from './view.js';

/** A value that the reader has written into a cell. */
export interface CellEdit extends Cell {
  readonly value: number;
}

const texts = { converter: { fromAttribute: textsFromJson }, initial: [], form: ['string'] } as const;
const test = { attribute: false, form: 'function' } as const;

/**
 * A matrix. Events (they bubble and are composed): `cell-point`, a cell or null, when the pointer or the focus moves to
 * one; `cell-select`, on click, tap, Enter or Space; `cell-edit`, when a number was typed: the element does not change
 * it itself. Rows and columns are always those of `numbers`, also when `transposed`.
 */
export class CfMatrix extends ElementBase implements Drawn {
  /** @internal */
  static styles = [sharedStyles, matrixStyles];
  /** @internal */
  static override properties: Properties = {
    numbers: { converter: { fromAttribute: numbersFromJson } },
    source: { initial: '' },
    label: { initial: '' },
    about: { initial: '' },
    hue: { initial: 'ink', form: hueForm },
    rowLabels: { attribute: 'row-labels', ...texts },
    columnLabels: { attribute: 'column-labels', ...texts },
    scale: { initial: 'signed', form: new Set<Scale>(['signed', 'weights', 'plain']) },
    bound: { type: Number, initial: 0 },
    digits: { converter: { fromAttribute: digitsFrom }, initial: 'auto', form: new Set(['auto', 'a number']) },
    transposed: { type: Boolean, initial: false },
    caption: { initial: 'below', form: new Set<CaptionPlace>(['below', 'above', 'none']) },
    quiet: { initial: '', form: new Set<Quiet>(['rows', 'columns', 'both', '']) },
    masked: test,
    secret: test,
    changed: test,
    edited: test,
    cellWidth: { attribute: 'cell-width', type: Number, initial: 0 },
    cellHeight: { attribute: 'cell-height', type: Number, initial: 0 },
    selected: { attribute: false, form: cellForm },
    rails: { attribute: false, form: railsForm },
    editable: { type: Boolean, initial: false },
  };

  /** [rows, columns]; a single dimension is one row. As an attribute JSON: [[1, 2], [3, 4]]. */
  declare numbers: Numbers | undefined;
  declare source: string;
  /** The name, 'Q'; a final ⊤ is raised. */
  declare label: string;
  /** A description, 'looks for'. */
  declare about: string;
  /** The colour of its brackets and name. */
  declare hue: Hue;
  declare rowLabels: readonly string[];
  declare columnLabels: readonly string[];
  /** `signed`: zero is the background; `weights`: 0 … 1; `plain`: no colours. */
  declare scale: Scale;
  /** The absolute value with full colour; 0: the largest finite one (1 for weights). */
  declare bound: number;
  declare digits: Digits;
  /** Draws the transposed matrix. */
  declare transposed: boolean;
  /** The position of name, description and shape. */
  declare caption: CaptionPlace;
  /** Labels that are accessible but not drawn, because an adjacent matrix draws them: `rows`, `columns` or `both`. */
  declare quiet: Quiet;
  /** Cells that are masked, drawn hatched. */
  declare masked: CellTest | undefined;
  /** Cells that are hidden, drawn as a question mark. */
  declare secret: CellTest | undefined;
  /** Cells whose value has changed, with an accent frame. */
  declare changed: CellTest | undefined;
  /** Cells that were edited, with a black corner. */
  declare edited: CellTest | undefined;
  /** Pixels; 0: fits the host's width, at most 30 × 25. */
  declare cellWidth: number;
  declare cellHeight: number;
  declare selected: Cell | undefined;
  declare rails: Rails | undefined;
  /** Whether numbers can be edited: with Enter, a digit, or a click on the selected cell. */
  declare editable: boolean;

  #picture: Picture | undefined;
  #layout: Layout | undefined;
  #view: MatrixView | undefined;
  #editor: Editor | undefined;
  #editing: Cell = { row: 0, column: 0 }; // the editor's cell of `numbers`
  #active: Cell = { row: 0, column: 0 }; // drawn positions, as the next two
  #hovered: Cell | undefined;
  #pointer: { x: number; y: number } | undefined;
  #byKeyboard = false;
  #pointed: Cell | undefined;
  readonly #sizes = typeof ResizeObserver === 'undefined' ? undefined : new ResizeObserver(() => this.#resized());
  readonly #fontsArrived = (): void => {
    forgetWidths();
    this.requestUpdate();
  };
  // Measured once, not while numbers change: it makes the browser compute the layout of the whole page.
  #width = 0;
  #faces: Faces | undefined;

  /** @internal */
  override connectedCallback(): void {
    super.connectedCallback();
    this.#sizes?.observe(this);
    document.fonts?.addEventListener('loadingdone', this.#fontsArrived);
  }

  /** @internal */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#width = 0;
    this.#faces = undefined;
    this.#sizes?.disconnect();
    document.fonts?.removeEventListener('loadingdone', this.#fontsArrived);
    this.#editor?.close();
  }

  /** Font size of the digits in cells, in CSS pixels; 0: no digits. */
  get digitSize(): number {
    return this.#layout?.digits ?? 0;
  }

  /** The screen position of a cell of `numbers`; empty (0 × 0) before the first rendering. */
  cellBox(row: number, column: number): DOMRect {
    if (!this.#layout || !this.#picture) return new DOMRect();
    const { x, y, width, height } = boxOf(this.#layout, this.#swapped({ row, column }));
    const corner = this.#picture.svg.getBoundingClientRect();
    return new DOMRect(corner.x + x, corner.y + y, width, height);
  }

  /** @internal */
  fault(): string | undefined {
    return faultOf(this);
  }

  /** @internal */
  draw(): TemplateResult | typeof nothing {
    if (!this.numbers) return nothing;
    return html`<div class="frame"><canvas hidden aria-hidden="true"></canvas>${this.#grid()}</div>`;
  }

  #grid(): TemplateResult {
    const [rows, columns] = drawnShape(this);
    const name = [this.label || words().matrix, this.about].filter(Boolean).join(', ');
    return html`<svg
      tabindex="0" role="grid" aria-label="${name}, ${rows} × ${columns}" aria-rowcount=${rows} aria-colcount=${columns}
      aria-readonly=${this.editable ? 'false' : 'true'}
      @pointermove=${this.#move} @pointerleave=${this.#leave} @pointerdown=${this.#press} @click=${this.#click}
      @keydown=${this.#key} @focus=${this.#focus} @blur=${this.#blur}
    ></svg>`;
  }

  /** @internal */
  updated(): void {
    const frame = this.renderRoot.querySelector<HTMLElement>('.frame');
    const [picture, canvas] = [frame?.querySelector('svg'), frame?.querySelector('canvas')];
    if (!frame || !picture || !canvas || !this.numbers) {
      this.#picture = this.#layout = this.#view = this.#hovered = undefined;
      this.#point(undefined);
      return;
    }
    if (this.#picture?.svg !== picture) this.#picture = new Picture(frame, picture, canvas);
    this.#width ||= this.#room;
    this.#faces ??= facesOf(this);
    const [rows, columns] = shapeOf(this.numbers);
    if (this.#editing.row >= rows || this.#editing.column >= columns) this.#editor?.close();
    this.#view = viewOf(this, this.numbers, this.#faces);
    this.#layout = layoutFor(this, this.numbers, this.#view, this.#width);
    const last = { row: this.#layout.rows - 1, column: this.#layout.columns - 1 };
    const active = this.selected && !this.#byKeyboard ? this.#swapped(this.selected) : this.#active;
    this.#active = { row: clamp(active.row, last.row), column: clamp(active.column, last.column) };
    this.#picture.draw(this.#view, this.#layout, this.#width);
    this.#overlay();
  }

  #swapped({ row, column }: Cell): Cell {
    return this.transposed ? { row: column, column: row } : { row, column };
  }

  /** The whole pixels of the element's width; clientWidth is rounded up from a half, and the picture half a pixel too wide. */
  get #room(): number {
    return Math.floor(Number.parseFloat(getComputedStyle(this).width)) || 0;
  }

  #resized(): void {
    const room = this.#room;
    if (room === this.#width) return;
    this.#width = room;
    this.requestUpdate();
  }

  /** Redraws frames and rails and reports the pointed cell; cells are unchanged. */
  #overlay(): SVGRectElement | undefined {
    if (!this.#picture || !this.#layout || !this.#view) return undefined;
    const focused = this.#byKeyboard ? this.#active : undefined;
    const selected = this.selected && this.#swapped(this.selected);
    const frames = { tracks: tracksOf(this), selected, pointed: this.#hovered, focused };
    const frame = this.#picture.overlay(this.#view, this.#layout, frames, this.#active);
    this.#point(this.#hovered ?? focused);
    return frame;
  }

  #point(cell: Cell | undefined): void {
    if (sameCell(cell, this.#pointed)) return;
    this.#pointed = cell;
    tell(this, 'cell-point', cell === undefined ? null : this.#swapped(cell));
  }

  #cellUnder({ clientX, clientY }: MouseEvent): Cell | undefined {
    if (!this.#picture || !this.#layout) return undefined;
    const { x, y } = this.#picture.svg.getBoundingClientRect();
    return cellAt(this.#layout, clientX - x, clientY - y);
  }

  #hover(cell: Cell | undefined): void {
    if (sameCell(cell, this.#hovered)) return;
    this.#hovered = cell;
    this.#overlay();
  }

  #move(event: PointerEvent): void {
    const { clientX: x, clientY: y } = event;
    const still = this.#pointer?.x === x && this.#pointer.y === y; // the page scrolled under the pointer
    this.#pointer = { x, y };
    if (event.pointerType !== 'touch' && !still) this.#hover(this.#cellUnder(event));
  }

  #leave(): void {
    this.#hover(undefined);
  }

  #press(): void {
    this.#byKeyboard = false;
  }

  #click(event: MouseEvent): void {
    const cell = this.#cellUnder(event);
    if (cell === undefined) return;
    const again = sameCell(this.selected && this.#swapped(this.selected), cell);
    this.#active = cell;
    this.#select();
    if (again && this.editable) this.#edit('');
  }

  #select(): void {
    this.selected = this.#swapped(this.#active);
    tell(this, 'cell-select', { ...this.selected });
  }

  #focus(event: FocusEvent): void {
    this.#byKeyboard = (event.target as Element).matches(':focus-visible');
    this.#overlay();
  }

  #blur(): void {
    this.#byKeyboard = false;
    this.#overlay();
  }

  #key(event: KeyboardEvent): void {
    const [rows, columns] = drawnShape(this);
    const to = event.altKey ? undefined : movedBy(event, this.#active, { rows, columns });
    const typed = this.editable && !event.ctrlKey && !event.metaKey && /^[-−+.,0-9∞]$/.test(event.key);
    if (to !== undefined) {
      this.#active = to;
      this.#byKeyboard = true;
      this.#hovered = undefined;
      this.#overlay()?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.#select();
      if (event.key === 'Enter' && this.editable) this.#edit('');
    } else if (typed) {
      this.#select();
      this.#edit(event.key);
    } else return;
    event.preventDefault();
  }

  #edit(first: string): void {
    if (!this.#picture || !this.#layout || !this.#view || this.numbers === undefined) return;
    const at = this.#active;
    const { row, column } = this.#swapped(at);
    if (this.masked?.(row, column) || this.secret?.(row, column)) return;
    this.#editor?.close();
    this.#editing = { row, column };
    this.#editor = new Editor(this.#picture.frame, {
      box: boxOf(this.#layout, at),
      value: Number(this.numbers.data[row * shapeOf(this.numbers)[1] + column]),
      first,
      name: this.#view.placeName(at.row, at.column),
      words: words(),
      done: (value, refocus) => {
        this.#editor = undefined;
        if (refocus) this.#picture?.svg.focus();
        const [rows, columns] = this.numbers ? shapeOf(this.numbers) : [0, 0]; // meanwhile there may be others
        if (value === undefined || row >= rows || column >= columns) return;
        tell(this, 'cell-edit', { row, column, value } satisfies CellEdit);
      },
    });
  }
}

function facesOf(element: Element): Faces {
  const style = getComputedStyle(element);
  const face = (name: string): string => style.getPropertyValue(`--_${name}`) || 'serif';
  return { serif: face('serif'), sans: face('sans'), mono: face('mono') };
}

const clamp = (place: number, last: number): number => Math.max(0, Math.min(last, place));

/** A text that is none of `Digits` stays as it is, for its error. */
function digitsFrom(text: string | null): number | string | null {
  const digits = text === null || text.trim() === '' ? Number.NaN : Math.trunc(Number(text));
  return Number.isNaN(digits) ? text : Math.max(0, Math.min(20, digits));
}

define('cf-matrix', CfMatrix);

declare global {
  interface HTMLElementTagNameMap {
    'cf-matrix': CfMatrix;
  }
}
