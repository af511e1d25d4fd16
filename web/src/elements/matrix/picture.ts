// The picture of a matrix: an SVG with its parts, over a canvas if cells are painted.

import type { Cell } from '../numbers.js';
import { setAttributes, svgElement } from '../svg.js';
import { drawFrames } from './frames.js';
import type { Layout } from './layout.js';
import { type PaintColours, PaintedCells } from './painted_cells.js';
import { drawSurround } from './surround.js';
import { cellId, SvgCells } from './svg_cells.js';
import type { Frames, MatrixView } from './view.js';

export class Picture {
  readonly frame: HTMLElement;
  readonly svg: SVGSVGElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #around: SVGGElement;
  readonly #frames: SVGGElement;
  readonly #inSvg: SvgCells;
  readonly #onCanvas: PaintedCells;
  #painted: boolean | undefined;
  #surround = '';

  constructor(frame: HTMLElement, svg: SVGSVGElement, canvas: HTMLCanvasElement) {
    this.frame = frame;
    this.svg = svg;
    this.#canvas = canvas;
    const definitions = svgElement('defs', {}, svg);
    const turned = { width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' };
    const hatch = svgElement('pattern', { id: 'hatch', ...turned }, definitions);
    svgElement('rect', { width: 6, height: 6, fill: 'var(--_sunken)' }, hatch);
    svgElement('path', { d: 'M0 0V6', stroke: 'var(--_line-strong)', 'stroke-width': 1, opacity: 0.45 }, hatch);
    this.#around = svgElement('g', { 'aria-hidden': 'true' }, svg);
    const cells = svgElement('g', { role: 'rowgroup', class: 'cells' }, svg);
    this.#frames = svgElement('g', { 'aria-hidden': 'true', class: 'frames' }, svg);
    this.#inSvg = new SvgCells(cells);
    this.#onCanvas = new PaintedCells(canvas, cells);
  }

  draw(view: MatrixView, layout: Layout, hostWidth: number): void {
    const { fullWidth, fullHeight, painted } = layout;
    setAttributes(this.svg, { width: fullWidth, height: fullHeight, viewBox: `0 0 ${fullWidth} ${fullHeight}` });
    this.frame.classList.toggle('wide', fullWidth > hostWidth);
    this.frame.classList.toggle('sideways', fullWidth > hostWidth + 1); // for less than a pixel nothing fades
    const surround = surroundKey(view, layout);
    if (surround !== this.#surround) drawSurround(this.#around, view, layout);
    this.#surround = surround;
    if (this.#painted !== painted) {
      this.#inSvg.clear();
      this.#onCanvas.clear();
      this.#canvas.hidden = !painted;
      this.#painted = painted;
    }
    if (painted) this.#onCanvas.draw(view, layout, this.#colours());
    else this.#inSvg.draw(view, layout);
  }

  /** Redraws frames and rails and updates the focused cell; cells are unchanged. */
  overlay(view: MatrixView, layout: Layout, frames: Frames, active: Cell): SVGRectElement | undefined {
    if (layout.painted) this.#onCanvas.name(view, layout, active.row, active.column);
    setAttributes(this.svg, { 'aria-activedescendant': cellId(active.row, active.column) });
    this.#mark(frames.selected);
    return drawFrames(this.#frames, layout, frames);
  }

  /** Marks the selected cell in the accessibility tree. */
  #mark(selected: Cell | undefined): void {
    const cell = selected && this.svg.querySelector(`#${cellId(selected.row, selected.column)}`);
    if (cell?.ariaSelected === 'true') return;
    this.svg.querySelector('[aria-selected]')?.removeAttribute('aria-selected');
    cell?.setAttribute('aria-selected', 'true');
  }

  /** The page's colours, passed to the canvas as values of its own CSS properties. */
  #colours(): PaintColours {
    const style = getComputedStyle(this.#canvas);
    return {
      ink: style.color,
      muted: style.caretColor,
      accent: style.outlineColor,
      line: style.columnRuleColor,
      sunken: style.textDecorationColor,
      font: style.fontFamily,
    };
  }
}

/** A key of everything that brackets, labels and caption depend on. */
function surroundKey(view: MatrixView, layout: Layout): string {
  const { look, placeName, boldRows, boldColumns, ...texts } = view;
  return JSON.stringify([texts, [...boldRows], [...boldColumns], layout]);
}
