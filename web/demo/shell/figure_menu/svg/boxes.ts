// The box of an HTML element: background, borders, rounded corners, and box shadows used as borders.

import { imageMarkup } from './backgrounds.js';
import { isClear, painted } from './colours.js';
import type { Drawing, Placed } from './drawing.js';
import { gradientOf, parts } from './gradients.js';
import { px, tag } from './markup.js';

type Side = 'Top' | 'Right' | 'Bottom' | 'Left';

const number = (css: string): number => Number.parseFloat(css) || 0;

/** The corner radius in px; all corners are assumed to equal the first. */
export function radiusOf(style: CSSStyleDeclaration, { width, height }: Placed): number {
  const [css = '0'] = style.borderTopLeftRadius.split(' ');
  const radius = css.endsWith('%') ? (number(css) * Math.min(width, height)) / 100 : number(css);
  return Math.min(radius, width / 2, height / 2);
}

function borderOf(style: CSSStyleDeclaration, side: Side): { width: number; colour: string; dashes?: string } {
  const width = number(style[`border${side}Width`]);
  const kind = style[`border${side}Style`];
  const colour = style[`border${side}Color`];
  if (kind === 'none' || kind === 'hidden' || isClear(colour)) return { width: 0, colour };
  if (kind === 'dashed') return { width, colour, dashes: `${3 * width} ${2 * width}` };
  return kind === 'dotted' ? { width, colour, dashes: `${width} ${width}` } : { width, colour };
}

function borders(style: CSSStyleDeclaration, box: Placed): string {
  const { x, y, width, height, transform } = box;
  const [top, right, bottom, left] = (['Top', 'Right', 'Bottom', 'Left'] as const).map((side) => borderOf(style, side));
  if (!top || !right || !bottom || !left) return '';
  const alike = [right, bottom, left].every((each) => each.width === top.width && each.colour === top.colour);
  const look = ({ width: stroke, colour, dashes }: typeof top) => ({
    ...painted('stroke', colour),
    'stroke-width': stroke,
    'stroke-dasharray': dashes,
  });
  if (alike && top.width === 0) return '';
  if (alike) {
    const inset = top.width / 2;
    const rx = Math.max(0, radiusOf(style, box) - inset) || undefined;
    const size = { x: x + inset, y: y + inset, width: width - top.width, height: height - top.width };
    return tag('rect', { ...size, rx, fill: 'none', ...look(top), transform });
  }
  const radius = radiusOf(style, box);
  if (radius > 0 && top.width === 0 && bottom.width === 0) {
    const bracket = (side: typeof top, outer: number, sign: 1 | -1): string => {
      const edge = outer + (sign * side.width) / 2;
      const end = px(edge + sign * radius);
      const arc = `A${px(radius)} ${px(radius)} 0 0 ${sign > 0 ? 0 : 1}`;
      const d = `M${end} ${px(y)}${arc} ${px(edge)} ${px(y + radius)}V${px(y + height - radius)}${arc} ${end} ${px(y + height)}`;
      return side.width > 0 ? tag('path', { d, fill: 'none', ...look(side), transform }) : '';
    };
    return bracket(left, x, 1) + bracket(right, x + width, -1);
  }
  const line = (side: typeof top, x1: number, y1: number, x2: number, y2: number): string =>
    side.width > 0 ? tag('line', { x1, y1, x2, y2, ...look(side), transform }) : '';
  return [
    line(top, x, y + top.width / 2, x + width, y + top.width / 2),
    line(right, x + width - right.width / 2, y, x + width - right.width / 2, y + height),
    line(bottom, x, y + height - bottom.width / 2, x + width, y + height - bottom.width / 2),
    line(left, x + left.width / 2, y, x + left.width / 2, y + height),
  ].join('');
}

/** Shadows without blur or offset: rings around or inside the box. Other shadows are omitted as decoration. */
function rings(style: CSSStyleDeclaration, box: Placed): string {
  if (style.boxShadow === 'none') return '';
  return parts(style.boxShadow)
    .map((shadow) => {
      const found = /^(.*?)\s*(-?[\d.]+)px (-?[\d.]+)px ([\d.]+)px ([\d.]+)px( inset)?$/.exec(shadow);
      const [, colour = '', dx, dy, blur, ring, inset] = found ?? [];
      const width = Number(ring ?? 0);
      if (!found || Number(dx) !== 0 || Number(dy) !== 0 || Number(blur) !== 0 || width === 0) return '';
      const shift = inset ? width / 2 : -width / 2;
      const rx = Math.max(0, radiusOf(style, box) - shift) || undefined;
      const size = { x: box.x + shift, y: box.y + shift, width: box.width - 2 * shift, height: box.height - 2 * shift };
      const look = { fill: 'none', ...painted('stroke', colour), 'stroke-width': width, transform: box.transform };
      return tag('rect', { ...size, rx, ...look });
    })
    .join('');
}

/** Background and borders of a box with this computed style. */
export function boxMarkup(style: CSSStyleDeclaration, box: Placed, drawing: Drawing): string {
  if (style.visibility !== 'visible' || box.width <= 0 || box.height <= 0) return '';
  const { x, y, width, height, transform } = box;
  const rect = { x, y, width, height, rx: radiusOf(style, box) || undefined, transform };
  const ground = isClear(style.backgroundColor)
    ? ''
    : tag('rect', { ...rect, ...painted('fill', style.backgroundColor) });
  const images = style.backgroundImage === 'none' ? [] : parts(style.backgroundImage).reverse();
  const over = images
    .map((image) => {
      const fill = gradientOf(image, box, drawing);
      return fill ? tag('rect', { ...rect, fill }) : imageMarkup(image, style, box, drawing, rect.rx ?? 0);
    })
    .join('');
  return ground + over + rings(style, box) + borders(style, box);
}
