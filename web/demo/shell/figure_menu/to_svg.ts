// Any element as one self-contained SVG document: its current rendering, with text as text.

import { backgroundsIn } from './svg/backgrounds.js';
import { isClear, painted } from './svg/colours.js';
import { Drawing } from './svg/drawing.js';
import { fontRules } from './svg/fonts.js';
import { escaped, tag } from './svg/markup.js';
import { missingMarkup } from './svg/svg_nodes.js';
import { elementMarkup } from './svg/walk.js';

/** In px of the page. */
export interface SvgPicture {
  text: string;
  width: number;
  height: number;
}

/** Margin around the figure, in px. */
const margin = 16;

/** The background behind an element: that of the nearest ancestor with one, through shadow roots. */
function paperUnder(element: Element): string {
  for (let node: Node | null = element; node; node = node instanceof ShadowRoot ? node.host : node.parentNode) {
    if (!(node instanceof Element)) continue;
    const { backgroundColor } = getComputedStyle(node);
    if (!isClear(backgroundColor)) return backgroundColor;
  }
  return 'rgb(255, 255, 255)';
}

/** The figure's current rendering, clipped to its box. `title` is the accessible name. */
export async function toSvg(figure: Element, title: string): Promise<SvgPicture> {
  const images = await backgroundsIn(figure);
  const rect = figure.getBoundingClientRect();
  const drawing = new Drawing(rect, images);
  const content = elementMarkup(figure, drawing, undefined) + missingMarkup(drawing);
  const fonts = await fontRules(drawing.families);
  const [width, height] = [Math.ceil(rect.width + 2 * margin), Math.ceil(rect.height + 2 * margin)];
  const [x, y] = [-margin, -margin];
  const document = tag(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `${x} ${y} ${width} ${height}`, role: 'img' },
    [
      tag('title', {}, escaped(title)),
      fonts === '' ? '' : `<style>${fonts}</style>`,
      drawing.definitions.length === 0 ? '' : `<defs>${drawing.definitions.join('')}</defs>`,
      tag('rect', { x, y, width, height, ...painted('fill', paperUnder(figure)) }),
      content,
    ].join('\n'),
  );
  return { text: `<?xml version="1.0" encoding="UTF-8"?>\n${document}\n`, width, height };
}
