// Cells painted on a canvas, for matrices with thousands of them. The focused cell is also an element of the
// accessibility tree, with its position among all.

import type { Rgb } from '../colours.js';
import { setAttributes, svgElement } from '../svg.js';
import { boxOf, type Layout } from './layout.js';
import type { Look } from './looks.js';
import { cellId } from './svg_cells.js';
import type { MatrixView } from './view.js';

/** Larger canvases are not reliable in all browsers. */
const mostPixels = { side: 8192, area: 16_000_000 };
const gapsFrom = 6;

export interface PaintColours {
  readonly sunken: string;
  readonly line: string;
  readonly ink: string;
  readonly accent: string;
  readonly muted: string;
  readonly font: string;
}

export class PaintedCells {
  readonly #canvas: HTMLCanvasElement;
  readonly #host: SVGGElement;

  constructor(canvas: HTMLCanvasElement, host: SVGGElement) {
    this.#canvas = canvas;
    this.#host = host;
  }

  clear(): void {
    this.#host.replaceChildren();
    this.#canvas.width = this.#canvas.height = 0;
  }

  draw(view: MatrixView, layout: Layout, colours: PaintColours): void {
    const context = this.#sized(layout);
    if (context === null) return;
    if (layout.cellWidth < gapsFrom || layout.cellHeight < gapsFrom) this.#pixels(context, view, layout, colours);
    else this.#squares(context, view, layout, colours);
  }

  /** Names the focused cell. */
  name(view: MatrixView, layout: Layout, row: number, column: number): void {
    const label = view.cellName(row, column);
    const group = this.#host.querySelector('[role=row]') ?? svgElement('g', { role: 'row' }, this.#host);
    const cell = group.firstElementChild ?? svgElement('g', { role: 'gridcell' }, group);
    const rect = cell.firstElementChild ?? svgElement('rect', { fill: 'none' }, cell);
    setAttributes(group, { 'aria-rowindex': row + 1 });
    setAttributes(cell, { id: cellId(row, column), 'aria-colindex': column + 1, 'aria-label': label });
    setAttributes(rect, { ...boxOf(layout, { row, column }) });
  }

  #sized({ fullWidth, fullHeight }: Layout): CanvasRenderingContext2D | null {
    const scale = Math.min(
      devicePixelRatio || 1,
      mostPixels.side / Math.max(fullWidth, fullHeight),
      Math.sqrt(mostPixels.area / (fullWidth * fullHeight)),
    );
    this.#canvas.width = Math.round(fullWidth * scale);
    this.#canvas.height = Math.round(fullHeight * scale);
    this.#canvas.style.width = `${fullWidth}px`;
    this.#canvas.style.height = `${fullHeight}px`;
    const context = this.#canvas.getContext('2d');
    context?.scale(this.#canvas.width / fullWidth, this.#canvas.height / fullHeight);
    return context;
  }

  /** One pixel per cell, scaled up: for cells too small for gaps and marks. */
  #pixels(context: CanvasRenderingContext2D, view: MatrixView, layout: Layout, colours: PaintColours): void {
    const { rows, columns, left, top, width, height } = layout;
    const small = document.createElement('canvas');
    [small.width, small.height] = [columns, rows];
    const inner = small.getContext('2d');
    if (inner === null) return;
    const image = inner.createImageData(columns, rows);
    let bytes: Rgb | undefined;
    const masked = (): Rgb => (bytes ??= bytesOf(colours.sunken, inner)); // reading a canvas takes long
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++) {
        const [red, green, blue] = view.look(r, c).rgb ?? masked();
        image.data.set([red, green, blue, 255], (r * columns + c) * 4);
      }
    }
    inner.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, left, top, width, height);
  }

  #squares(context: CanvasRenderingContext2D, view: MatrixView, layout: Layout, colours: PaintColours): void {
    let pattern: CanvasPattern | string | undefined;
    const hatched = (): CanvasPattern | string => (pattern ??= hatch(context, colours));
    context.textAlign = 'center';
    context.font = `${layout.digits}px ${colours.font}`;
    for (let r = 0; r < layout.rows; r++) {
      for (let c = 0; c < layout.columns; c++) {
        const look = view.look(r, c);
        context.fillStyle = look.masked ? hatched() : look.rgb === undefined ? colours.sunken : look.fill;
        this.#square(context, look, boxOf(layout, { row: r, column: c }), layout.digits, colours);
      }
    }
  }

  #square(
    context: CanvasRenderingContext2D,
    look: Look,
    { x, y, width, height }: { x: number; y: number; width: number; height: number },
    digits: number,
    colours: PaintColours,
  ): void {
    context.fillRect(x + 0.5, y + 0.5, width - 1, height - 1);
    if (digits > 0 && look.text !== '') {
      context.fillStyle = look.rgb === undefined ? colours.muted : look.ink;
      context.fillText(look.text, x + width / 2, y + height / 2 + digits * 0.36);
    }
    if (look.changed) {
      context.strokeStyle = colours.accent;
      context.lineWidth = 1.6;
      context.strokeRect(x + 1.5, y + 1.5, width - 3, height - 3);
    }
    if (look.edited) {
      context.fillStyle = colours.ink;
      context.fill(new Path2D(`M${x + width - 6} ${y + 1}h5v5z`));
    }
  }
}

function bytesOf(colour: string, context: CanvasRenderingContext2D): Rgb {
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}

/** The hatch pattern of masked cells. */
function hatch(context: CanvasRenderingContext2D, colours: PaintColours): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const inner = tile.getContext('2d');
  if (inner === null) return colours.sunken;
  inner.fillStyle = colours.sunken;
  inner.fillRect(0, 0, 6, 6);
  inner.strokeStyle = colours.line;
  inner.globalAlpha = 0.45;
  inner.stroke(new Path2D('M-1 7L7 -1M-4 4L4 -4M2 10L10 2'));
  return context.createPattern(tile, 'repeat') ?? colours.sunken;
}
