// Frames and rails over the cells. Where a row rail and a column rail meet, they end at that cell.

import type { Cell } from '../numbers.js';
import { svgElement } from '../svg.js';
import { boxOf, type Layout } from './layout.js';
import type { Frames, Tracks } from './view.js';

/** Redraws all of them; returns the frame of the focused cell. */
export function drawFrames(host: SVGGElement, layout: Layout, frames: Frames): SVGRectElement | undefined {
  host.replaceChildren();
  drawTracks(host, layout, frames.tracks);
  const frame = (cell: Cell | undefined, name: string, width: number): SVGRectElement | undefined => {
    if (cell === undefined || !inside(layout, cell)) return undefined;
    return drawBox(host, layout, cell, cell, { class: name, 'stroke-width': width });
  };
  frame(frames.selected, 'selected', 2.6);
  frame(frames.pointed, 'pointed', 1.6);
  return frame(frames.focused, 'focused', 2.6);
}

/** A window of a larger matrix does not contain all of its cells. */
const inside = ({ rows, columns }: Layout, { row, column }: Cell): boolean =>
  row >= 0 && column >= 0 && row < rows && column < columns;

function drawBox(
  host: SVGGElement,
  layout: Layout,
  from: Cell,
  to: Cell,
  look: Record<string, string | number>,
): SVGRectElement {
  const { x, y, width, height } = boxOf(layout, from, to);
  const place = { x: x - 0.5, y: y - 0.5, width: width + 1, height: height + 1, rx: 2.5, fill: 'none' };
  return svgElement('rect', { ...place, ...look }, host);
}

function drawTracks(host: SVGGElement, layout: Layout, tracks: Tracks): void {
  const rows = tracks.rows.filter((row) => row >= 0 && row < layout.rows);
  const columns = tracks.columns.filter((column) => column >= 0 && column < layout.columns);
  const meeting = rows.length > 0 && columns.length > 0;
  const [bottom, right] = meeting
    ? [Math.max(...rows) - 1, Math.max(...columns) - 1]
    : [layout.rows - 1, layout.columns - 1];
  for (const row of rows) {
    const [from, to] = [
      { row, column: 0 },
      { row, column: right },
    ];
    if (!meeting) drawBox(host, layout, from, to, { stroke: tracks.rowColour, 'stroke-width': 2.2 });
    else if (right >= 0) lane(host, layout, 'along', from, to, tracks.rowColour);
  }
  for (const column of columns) {
    const [from, to] = [
      { row: 0, column },
      { row: bottom, column },
    ];
    if (!meeting) drawBox(host, layout, from, to, { stroke: tracks.columnColour, 'stroke-width': 2.2 });
    else if (bottom >= 0) lane(host, layout, 'down', from, to, tracks.columnColour);
  }
}

/** Two thin lines along a run of cells, without crossing digits. */
function lane(host: SVGGElement, layout: Layout, way: 'along' | 'down', from: Cell, to: Cell, colour: string): void {
  const { x, y, width, height } = boxOf(layout, from, to);
  const along = `M${x} ${y - 0.2}h${width}M${x} ${y + height + 0.2}h${width}`;
  const down = `M${x - 0.2} ${y}v${height}M${x + width + 0.2} ${y}v${height}`;
  const look = { fill: 'none', stroke: colour, 'stroke-width': 1.5, opacity: 0.75 };
  svgElement('path', { d: way === 'along' ? along : down, ...look }, host);
}
