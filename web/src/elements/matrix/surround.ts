// The surroundings of the cells: brackets, labels of rows and columns, and the caption with name, description and
// shape.

import { shortened, svgElement } from '../svg.js';
import { type Layout, leanDegrees } from './layout.js';
import type { MatrixView } from './view.js';

export const labelSize = 14.5;
/** Longer labels are truncated with an ellipsis; accessible names contain them in full. */
export const longestLabel = 140;
export const captionFonts = { name: 'italic 18px', about: '12.5px', shape: '12px' };

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
  const cut = (text: string): string => shortened(text, `${labelSize}px ${view.serif}`, longestLabel);
  const size = Math.min(labelSize, Math.max(8, cellHeight * 0.9));
  const every = Math.ceil(9 / cellHeight); // rows lower than a line of text: label only some
  view.rowLabels.forEach((label, r) => {
    if (label === '' || r % every !== 0) return;
    const bold = view.boldRows.has(r);
    const place = { x: left - 12, y: top + (r + 0.5) * cellHeight + size * 0.31, 'text-anchor': 'end' };
    const look = { 'font-size': size, class: bold ? 'label bold' : 'label', fill: bold ? view.rowColour : undefined };
    svgElement('text', { ...place, ...look }, host, cut(label));
  });
  const step = Math.ceil(9 / cellWidth);
  view.columnLabels.forEach((label, c) => {
    if (label === '' || c % step !== 0) return;
    const bold = view.boldColumns.has(c);
    const [x, y] = [left + (c + 0.5) * cellWidth, top - 10];
    const turned = { x: x + 4, y, transform: `rotate(-${leanDegrees} ${x + 4} ${y})`, 'text-anchor': 'start' };
    const place = layout.leaning ? turned : { x, y, 'text-anchor': 'middle' };
    const look = {
      'font-size': labelSize,
      class: bold ? 'label bold' : 'label',
      fill: bold ? view.columnColour : undefined,
    };
    svgElement('text', { ...place, ...look }, host, cut(label));
  });
}

function drawCaption(host: SVGGElement, view: MatrixView, layout: Layout): void {
  const { left, captionY: y } = layout;
  const text = svgElement('text', { x: left - 5, y, 'font-size': 18 }, host);
  if (view.name !== '') {
    svgElement('tspan', { class: 'name', fill: view.hue }, text, view.name);
    if (view.transposed) svgElement('tspan', { dy: -6, 'font-size': 11, fill: view.hue, class: 'power' }, text, '⊤');
  }
  if (view.about !== '') {
    const back = view.transposed && view.name !== '' ? 6 : 0;
    const gap = view.name === '' ? 0 : 8;
    svgElement('tspan', { dx: gap, dy: back - 1, 'font-size': 12.5, class: 'about' }, text, view.about);
  }
  const end = Math.max(left + layout.width + 5, layout.fullWidth);
  const right = layout.fullWidth > left + layout.width + 8 ? end : left + layout.width + 5;
  svgElement('text', { x: right, y: y - 1, 'text-anchor': 'end', 'font-size': 12, class: 'shape' }, host, view.shape);
}
