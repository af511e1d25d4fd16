// Cells as SVG, one group each: created once, and updated only when a number changes.

import { svgElement } from '../svg.js';
import { motionReduced } from '../theme.js';
import type { Layout } from './layout.js';
import type { Look } from './looks.js';
import type { MatrixView } from './view.js';

interface Drawn {
  readonly group: SVGGElement;
  readonly rect: SVGRectElement;
  text: SVGTextElement | undefined;
  corner: SVGPathElement | undefined;
  frame: SVGRectElement | undefined;
  look: Look | undefined;
  name: string;
}

export const cellId = (row: number, column: number): string => `cell-${row}-${column}`;

export class SvgCells {
  readonly #host: SVGGElement;
  #cells: Drawn[][] = [];
  #layout: Layout | undefined;

  constructor(host: SVGGElement) {
    this.#host = host;
  }

  /** Removes everything. */
  clear(): void {
    this.#host.replaceChildren();
    this.#cells = [];
    this.#layout = undefined;
  }

  draw(view: MatrixView, layout: Layout): void {
    const moved = this.#layout === undefined || !samePlaces(this.#layout, layout);
    if (moved) this.#build(layout);
    this.#layout = layout;
    this.#cells.forEach((row, r) => {
      row.forEach((cell, c) => {
        this.#update(cell, view.look(r, c), view.cellName(r, c), { r, c, fade: !moved });
      });
    });
  }

  #build(layout: Layout): void {
    this.clear();
    const { left, top, cellWidth, cellHeight } = layout;
    this.#cells = Array.from({ length: layout.rows }, (_, r) => {
      const row = svgElement('g', { role: 'row' }, this.#host);
      return Array.from({ length: layout.columns }, (_, c) => {
        const group = svgElement('g', { role: 'gridcell', id: cellId(r, c) }, row);
        const place = { x: left + c * cellWidth + 0.5, y: top + r * cellHeight + 0.5 };
        const size = { width: cellWidth - 1, height: cellHeight - 1, rx: 1.5 };
        const rect = svgElement('rect', { ...place, ...size }, group);
        return { group, rect, text: undefined, corner: undefined, frame: undefined, look: undefined, name: '' };
      });
    });
  }

  #update(cell: Drawn, look: Look, name: string, at: { r: number; c: number; fade: boolean }): void {
    const before = cell.look;
    const renewed = before !== undefined && look.changed && name !== cell.name;
    if (name !== cell.name) {
      cell.name = name;
      cell.group.setAttribute('aria-label', name);
    }
    if (before?.fill !== look.fill) cell.rect.setAttribute('fill', look.fill);
    if (before?.text !== look.text || before.ink !== look.ink) this.#write(cell, look, at);
    if ((before?.edited ?? false) !== look.edited) this.#mark(cell, look.edited, at);
    if ((before?.changed ?? false) !== look.changed) this.#frame(cell, look.changed, at);
    if (look.changed && at.fade && (renewed || !before?.changed)) fadeIn(cell.frame);
    cell.look = look;
  }

  #write(cell: Drawn, look: Look, { r, c }: { r: number; c: number }): void {
    const { left, top, cellWidth, cellHeight, digits } = this.#layout as Layout;
    if (digits === 0 || look.text === '') {
      cell.text?.remove();
      cell.text = undefined;
      return;
    }
    if (cell.text === undefined) {
      const place = { x: left + (c + 0.5) * cellWidth, y: top + (r + 0.5) * cellHeight + digits * 0.36 };
      cell.text = svgElement('text', { ...place, class: 'digits', 'text-anchor': 'middle', 'font-size': digits });
      cell.rect.after(cell.text);
    }
    cell.text.textContent = look.text;
    cell.text.setAttribute('fill', look.ink);
  }

  /** The black corner of an edited cell. */
  #mark(cell: Drawn, edited: boolean, { r, c }: { r: number; c: number }): void {
    cell.corner?.remove();
    cell.corner = undefined;
    if (!edited) return;
    const { left, top, cellWidth, cellHeight } = this.#layout as Layout;
    const path = `M${left + (c + 1) * cellWidth - 6} ${top + r * cellHeight + 1}h5v5z`;
    cell.corner = svgElement('path', { d: path, class: 'edited' }, cell.group);
  }

  #frame(cell: Drawn, changed: boolean, { r, c }: { r: number; c: number }): void {
    cell.frame?.remove();
    cell.frame = undefined;
    if (!changed) return;
    const { left, top, cellWidth, cellHeight } = this.#layout as Layout;
    const place = { x: left + c * cellWidth + 1.5, y: top + r * cellHeight + 1.5 };
    const size = { width: Math.max(1, cellWidth - 3), height: Math.max(1, cellHeight - 3), rx: 1 };
    cell.frame = svgElement('rect', { ...place, ...size, class: 'changed' }, cell.group);
  }
}

function fadeIn(element: Element | undefined): void {
  if (element !== undefined && !motionReduced()) element.animate([{ opacity: 0 }, { opacity: 1 }], 250);
}

function samePlaces(one: Layout, other: Layout): boolean {
  const keys = ['rows', 'columns', 'left', 'top', 'cellWidth', 'cellHeight', 'digits'] as const;
  return keys.every((key) => one[key] === other[key]);
}
