// The surroundings of the cells: brackets, labels of rows and columns, and the caption with name, description and
// shape.

import { shortened, svgElement } from '../svg.js';
import { drawCaption } from './caption.js';
import { type Layout, leanDegrees } from './layout.js';
import type { MatrixView } from './view.js';

/** Font size of row and column labels. */
export const labelSize = (minFont: number): number => Math.max(14.5, minFont);
/** Longer labels are truncated with an ellipsis; accessible names contain them in full. */
export const longestLabel = (minFont: number): number => Math.max(140, 11 * minFont);

const none: ReadonlySet<number> = new Set();

/** Redraws all of it. */
export function drawSurround(host: SVGGElement, view: MatrixView, layout: Layout): void {
  host.replaceChildren();
  drawBrackets(host, view.hue, layout);
  drawLabels(host, view, layout);
  if (view.caption !== 'none') drawCaption(host, view, layout);
}

function drawBrackets(host: SVGGElement, colour: string, { left, top, width, height }: Layout): void {
  const [x, y, right, h] = [left - 1, top - 3, left + width + 1, height + 6];
  const path = `M${x} ${y}h-5v${h}h5M${right} ${y}h5v${h}h-5`;
  svgElement('path', { d: path, fill: 'none', stroke: colour, 'stroke-width': 2 }, host);
}

function drawLabels(host: SVGGElement, view: MatrixView, layout: Layout): void {
  const { left, top, cellWidth, cellHeight } = layout;
  const { minFont } = view;
  const full = labelSize(minFont);
  const cut = (text: string, most = longestLabel(minFont)): string => shortened(text, `${full}px ${view.serif}`, most);
  const size = Math.max(minFont, Math.min(full, Math.max(8, cellHeight * 0.9)));
  const rows = labelled(view.rowLabels, minFont > 0 ? view.boldRows : none, Math.max(9, 0.92 * minFont) / cellHeight);
  view.rowLabels.forEach((label, r) => {
    if (!rows(r)) return;
    const bold = view.boldRows.has(r);
    const place = { x: left - 12, y: top + (r + 0.5) * cellHeight + size * 0.31, 'text-anchor': 'end' };
    const look = { 'font-size': size, class: bold ? 'label bold' : 'label', fill: bold ? view.rowColour : undefined };
    svgElement('text', { ...place, ...look }, host, cut(label));
  });
  const columns = labelled(
    view.columnLabels,
    minFont > 0 ? view.boldColumns : none,
    Math.max(9, layout.leaning ? 1.15 * minFont : 0) / cellWidth,
  );
  view.columnLabels.forEach((label, c) => {
    if (!columns(c)) return;
    const bold = view.boldColumns.has(c);
    const [x, y] = [left + (c + 0.5) * cellWidth, top - 10];
    const turned = { x: x + 4, y, transform: `rotate(-${leanDegrees} ${x + 4} ${y})`, 'text-anchor': 'start' };
    const place = layout.leaning ? turned : { x, y, 'text-anchor': 'middle' };
    const look = {
      'font-size': full,
      class: bold ? 'label bold' : 'label',
      fill: bold ? view.columnColour : undefined,
    };
    const most = minFont > 0 && !layout.leaning ? cellWidth - 4 : longestLabel(minFont);
    svgElement('text', { ...place, ...look }, host, cut(label, most));
  });
}

/** Which labels are drawn if adjacent ones need a distance of `apart` cells; bold ones take precedence. */
function labelled(labels: readonly string[], bold: ReadonlySet<number>, apart: number): (at: number) => boolean {
  const every = Math.ceil(apart);
  if (every === 1) return (at) => labels[at] !== '';
  const crowded = (at: number): boolean => [...bold].some((other) => other !== at && Math.abs(other - at) < every);
  return (at) => labels[at] !== '' && (bold.has(at) || (at % every === 0 && !crowded(at)));
}
