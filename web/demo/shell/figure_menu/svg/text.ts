// Rendered text as lines of SVG: where each line of a text node starts and ends, and its baseline.

import { painted } from './colours.js';
import type { Box, Drawing, Turn } from './drawing.js';
import { type Attributes, escaped, tag } from './markup.js';

interface Line {
  text: string;
  rect: DOMRect;
}

let context: CanvasRenderingContext2D | null | undefined;
const known = new Map<string, { ascent: number; descent: number }>();

const fontOf = (style: CSSStyleDeclaration): string =>
  `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;

/** A font's ascent and descent, in px. */
export function measuresOf(style: CSSStyleDeclaration): { ascent: number; descent: number } {
  const font = fontOf(style);
  const found = known.get(font);
  if (found) return found;
  if (context === undefined) context = document.createElement('canvas').getContext('2d');
  const size = Number.parseFloat(style.fontSize);
  let measures = { ascent: 0.8 * size, descent: 0.2 * size };
  if (context) {
    context.font = font;
    const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = context.measureText('x');
    measures = { ascent, descent };
  }
  known.set(font, measures);
  return measures;
}

function widthOf(text: string, style: CSSStyleDeclaration): number {
  if (!context) return 0;
  context.font = fontOf(style);
  const spacing = Number.parseFloat(style.letterSpacing) || 0;
  return context.measureText(text).width + spacing * text.length;
}

const cased = (text: string, style: CSSStyleDeclaration): string => {
  if (style.textTransform === 'uppercase') return text.toUpperCase();
  return style.textTransform === 'lowercase' ? text.toLowerCase() : text;
};

function rectOf(range: Range, node: Text, from: number, to: number): DOMRect[] {
  range.setStart(node, from);
  range.setEnd(node, to);
  return [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
}

/** The lines of a text node that are visible on the screen. */
function linesOf(node: Text, style: CSSStyleDeclaration): Line[] {
  const kept = style.whiteSpace.startsWith('pre') || style.whiteSpace.startsWith('break');
  const data = node.data;
  const from = kept ? 0 : data.search(/\S/);
  if (from < 0 || data === '') return [];
  const to = kept ? data.length : data.length - (/\s*$/.exec(data)?.[0].length ?? 0);
  const range = document.createRange();
  const whole = rectOf(range, node, from, to);
  const text = (part: string): string => cased(kept ? part.replace(/\n$/, '') : part.replace(/\s+/g, ' '), style);
  const [only] = whole;
  if (!only) return [];
  if (whole.length === 1) return [{ text: text(data.slice(from, to)), rect: only }];
  const lines: { start: number; end: number; rect: DOMRect }[] = [];
  for (let i = from; i < to; ) {
    const next = i + (data.codePointAt(i) ?? 0) / 0x10000 >= i + 1 ? i + 2 : i + 1;
    const [rect] = rectOf(range, node, i, next);
    const last = lines.at(-1);
    if (rect && last && Math.abs(rect.top - last.rect.top) < rect.height / 2) {
      const right = Math.max(rect.right, last.rect.right);
      last.rect = new DOMRect(last.rect.left, last.rect.top, right - last.rect.left, last.rect.height);
      last.end = next;
    } else if (rect) lines.push({ start: i, end: next, rect });
    i = next;
  }
  return lines.map(({ start, end, rect }) => ({ text: text(data.slice(start, end)), rect }));
}

/** The attributes of text with this style. */
export function typeOf(style: CSSStyleDeclaration, drawing: Drawing): Attributes {
  for (const family of style.fontFamily.split(',')) drawing.families.add(family.trim().replace(/^["']|["']$/g, ''));
  const tabular = style.fontVariantNumeric !== 'normal' ? `font-variant-numeric:${style.fontVariantNumeric};` : '';
  return {
    ...painted('fill', style.color),
    'font-family': style.fontFamily.replaceAll('"', "'"),
    'font-size': Number.parseFloat(style.fontSize),
    'font-weight': style.fontWeight === '400' ? undefined : style.fontWeight,
    'font-style': style.fontStyle === 'normal' ? undefined : style.fontStyle,
    'letter-spacing': style.letterSpacing === 'normal' ? undefined : Number.parseFloat(style.letterSpacing),
    'text-decoration': style.textDecorationLine === 'none' ? undefined : style.textDecorationLine,
    style: `white-space:pre;${tabular}`,
  };
}

/** One line in `box`, which is at least as high as the line's glyphs. */
export function lineMarkup(text: string, box: Box, style: CSSStyleDeclaration, drawing: Drawing, turn?: Turn): string {
  const { ascent, descent } = measuresOf(style);
  const width = turn ? widthOf(text, style) : box.width;
  const { x, y, height, transform } = drawing.placed(box, turn, width, turn ? ascent + descent : box.height);
  const baseline = y + (height - ascent - descent) / 2 + ascent;
  // textLength keeps the width of the line if the renderer substitutes another font.
  const length = [...text].length > 1 ? { textLength: width, lengthAdjust: 'spacingAndGlyphs' } : {};
  return tag('text', { x, y: baseline, ...typeOf(style, drawing), ...length, transform }, escaped(text));
}

/** A text node. */
export function textMarkup(node: Text, style: CSSStyleDeclaration, drawing: Drawing, turn?: Turn): string {
  if (style.visibility !== 'visible') return '';
  return linesOf(node, style)
    .map(({ text, rect }) => lineMarkup(text, drawing.box(rect), style, drawing, turn))
    .join('');
}
