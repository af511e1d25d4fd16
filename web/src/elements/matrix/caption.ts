// The caption of a matrix: name, description, shape. One line if it fits at the default font sizes, else wrapped.

import { svgElement, textWidth } from '../svg.js';
import { type Caption, type CaptionLine, captionLineHeight, captionSizes } from './caption_size.js';
import type { Layout } from './layout.js';
import type { MatrixView } from './view.js';

const gap = 8;
/** Gap between description and shape. */
const apart = 16;

/** The caption, wrapped to a width in CSS pixels. */
export function captionOf(view: MatrixView, room: number): Caption {
  const { minFont } = view;
  const sizes = captionSizes(minFont);
  const lineHeight = captionLineHeight(minFont);
  const name = textWidth(view.name, `italic ${sizes.name}px ${view.serif}`) + (view.transposed ? 8 : 0);
  if (minFont === 0) {
    const width = name + textWidth(view.about, '12.5px sans-serif') + view.shape.length * 7.3 + 24;
    if (width <= room) return { lines: [{ name: view.name, about: view.about, shape: view.shape }], width, lineHeight };
  }
  const about = (text: string): number => textWidth(text, `${sizes.about}px ${view.sans}`);
  const shape = textWidth(view.shape, `${sizes.shape}px ${view.mono}`);
  const lines: { name: string; about: string; shape: string }[] = [{ name: view.name, about: '', shape: '' }];
  let taken = [name];
  const add = (word: string): void => {
    const line = lines.at(-1) ?? { name: '', about: '', shape: '' };
    const longer = line.about === '' ? word : `${line.about} ${word}`;
    const before = line.name === '' ? 0 : name + gap;
    if (before + about(longer) <= room || (line.name === '' && line.about === '')) {
      line.about = longer;
      taken = [...taken.slice(0, -1), before + about(longer)];
    } else {
      lines.push({ name: '', about: word, shape: '' });
      taken = [...taken, about(word)];
    }
  };
  for (const word of view.about.split(' ').filter(Boolean)) add(word);
  const end = (taken.at(-1) ?? 0) + ((taken.at(-1) ?? 0) > 0 ? apart : 0) + shape;
  const last = lines.at(-1);
  if (last && end <= room) {
    last.shape = view.shape;
    taken = [...taken.slice(0, -1), end];
  } else {
    lines.push({ name: '', about: '', shape: view.shape });
    taken = [...taken, shape];
  }
  return { lines, width: Math.max(...taken), lineHeight };
}

export function drawCaption(host: SVGGElement, view: MatrixView, layout: Layout): void {
  const sizes = captionSizes(view.minFont);
  layout.caption.lines.forEach((line, i) => {
    drawLine(host, view, layout, { line, sizes, y: layout.captionY + i * layout.caption.lineHeight });
  });
}

interface LineRequest {
  readonly line: CaptionLine;
  readonly sizes: ReturnType<typeof captionSizes>;
  /** Baseline. */
  readonly y: number;
}

function drawLine(host: SVGGElement, view: MatrixView, layout: Layout, { line, sizes, y }: LineRequest): void {
  const { left } = layout;
  const text = svgElement('text', { x: left - 5, y, 'font-size': sizes.name }, host);
  if (line.name !== '') {
    svgElement('tspan', { class: 'name', fill: view.hue }, text, line.name);
    const power = { dy: -6, 'font-size': sizes.power, fill: view.hue, class: 'power' };
    if (view.transposed) svgElement('tspan', power, text, '⊤');
  }
  if (line.about !== '') {
    const back = view.transposed && line.name !== '' ? 6 : 0;
    const dx = line.name === '' ? 0 : gap;
    svgElement('tspan', { dx, dy: back - 1, 'font-size': sizes.about, class: 'about' }, text, line.about);
  }
  if (line.shape === '') return;
  const end = Math.max(left + layout.width + 5, layout.fullWidth);
  const right = layout.fullWidth > left + layout.width + 8 ? end : left + layout.width + 5;
  const place = { x: right, y: y - 1, 'text-anchor': 'end', 'font-size': sizes.shape, class: 'shape' };
  svgElement('text', place, host, line.shape);
}
