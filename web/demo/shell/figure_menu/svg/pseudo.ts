// ::before and ::after. Browsers expose the position of such a box only if it is absolutely positioned, not if it is in
// the flow. A block ::before is at the top left corner of the content; the others are omitted, so figures use elements
// for anything essential.

import { boxMarkup } from './boxes.js';
import { type Box, type Drawing, type Placed, turned } from './drawing.js';
import { effectsOf, group } from './markup.js';
import { lineMarkup } from './text.js';

const number = (css: string): number => Number.parseFloat(css) || 0;

/** The padding box of the containing block of an absolutely positioned child of `element`, which is at `placed`. */
function paddingBox(element: Element, placed: Placed, drawing: Drawing): Box | undefined {
  let holder: Element | null = element;
  while (holder && getComputedStyle(holder).position === 'static') holder = holder.parentElement;
  if (!holder || (holder !== element && placed.transform)) return undefined;
  const style = getComputedStyle(holder);
  const { x, y, width, height } = holder === element ? placed : drawing.box(holder.getBoundingClientRect());
  return { x: x + number(style.borderLeftWidth), y: y + number(style.borderTopWidth), width, height };
}

/** The content box of `element`, which is at `placed`. */
function contentBox(element: Element, { x, y, width, height }: Placed): Box {
  const style = getComputedStyle(element);
  const [left, top] = [number(style.borderLeftWidth), number(style.borderTopWidth)];
  return { x: x + left + number(style.paddingLeft), y: y + top + number(style.paddingTop), width, height };
}

/** The pseudo-element of an element at `placed`, with the transform of that. */
export function pseudoMarkup(element: Element, name: '::before' | '::after', placed: Placed, drawing: Drawing): string {
  const style = getComputedStyle(element, name);
  if (style.content === 'none' || style.content === 'normal' || style.display === 'none') return '';
  const first = name === '::before' && style.display === 'block' && style.position === 'static';
  if (style.position !== 'absolute' && !first) return '';
  const around = first ? contentBox(element, placed) : paddingBox(element, placed, drawing);
  if (!around) return '';
  const edges = ['paddingLeft', 'paddingRight', 'borderLeftWidth', 'borderRightWidth'] as const;
  const lines = ['paddingTop', 'paddingBottom', 'borderTopWidth', 'borderBottomWidth'] as const;
  const outer = style.boxSizing === 'border-box';
  const sum = (names: readonly (typeof edges)[number][] | readonly (typeof lines)[number][]): number =>
    outer ? 0 : names.reduce((total, each) => total + number(style[each]), 0);
  const size = { width: number(style.width) + sum(edges), height: number(style.height) + sum(lines) };
  const shift = style.transform === 'none' ? new DOMMatrix() : new DOMMatrix(style.transform);
  const box = { x: around.x + number(style.left) + shift.e, y: around.y + number(style.top) + shift.f, ...size };
  const inner = turned(undefined, style.transform);
  const text = /^"(.*)"$/.exec(style.content)?.[1] ?? '';
  const line = text === '' ? '' : lineMarkup(text, box, style, drawing, inner);
  const effects = { ...effectsOf(style), transform: placed.transform };
  return group(effects, boxMarkup(style, drawing.placed(box, inner), drawing) + line);
}
