// Walks the rendered HTML in paint order: boxes, lines of text, images, controls, SVG, through shadow roots and slots.

import { boxMarkup, radiusOf } from './boxes.js';
import { controlMarkup, isControl, isNative } from './controls.js';
import { type Drawing, type Turn, turned } from './drawing.js';
import { effectsOf, group } from './markup.js';
import { isPixels, pixelsMarkup } from './pictures.js';
import { pseudoMarkup } from './pseudo.js';
import { svgMarkup } from './svg_nodes.js';
import { textMarkup } from './text.js';

/** The rendered children: the shadow root's if there is one, a slot's assigned nodes if it has any. */
function shownChildren(element: Element): readonly Node[] {
  if (element.shadowRoot) return [...element.shadowRoot.childNodes];
  if (element instanceof HTMLSlotElement) {
    const assigned = element.assignedNodes({ flatten: true });
    if (assigned.length > 0) return assigned;
  }
  return [...element.childNodes];
}

function depthOf(node: Node): number {
  if (!(node instanceof Element)) return 0;
  const style = getComputedStyle(node);
  const depth = Number.parseInt(style.zIndex, 10);
  if (!Number.isNaN(depth)) return depth;
  return style.position === 'static' ? 0 : 0.5;
}

/** Children in paint order: positioned ones above the others, then by z-index. */
function inPaintOrder(nodes: readonly Node[]): readonly Node[] {
  const depths = nodes.map(depthOf);
  if (depths.every((depth) => depth === 0)) return nodes;
  return nodes
    .map((node, i) => ({ node, depth: depths[i] ?? 0 }))
    .sort((one, other) => one.depth - other.depth)
    .map(({ node }) => node);
}

const isForReadersOfScreens = ({ width, height }: DOMRect, style: CSSStyleDeclaration): boolean =>
  style.position === 'absolute' && width <= 1 && height <= 1;

function clips(element: HTMLElement, style: CSSStyleDeclaration): boolean {
  if (style.overflowX === 'visible' && style.overflowY === 'visible') return false;
  return element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1;
}

function inner(element: Element, style: CSSStyleDeclaration, drawing: Drawing, turn: Turn | undefined): string {
  const box = drawing.box(element.getBoundingClientRect());
  const sized = element instanceof HTMLElement && turn;
  const placed = sized
    ? drawing.placed(box, turn, element.offsetWidth, element.offsetHeight)
    : drawing.placed(box, turn);
  if (element instanceof SVGSVGElement) {
    const edge = (name: 'Left' | 'Right' | 'Top' | 'Bottom'): number =>
      Number.parseFloat(style[`padding${name}`]) + Number.parseFloat(style[`border${name}Width`]);
    const content = {
      ...placed,
      x: placed.x + edge('Left'),
      y: placed.y + edge('Top'),
      width: placed.width - edge('Left') - edge('Right'),
      height: placed.height - edge('Top') - edge('Bottom'),
    };
    const html = (each: Element): string => elementMarkup(each, drawing, undefined);
    return boxMarkup(style, placed, drawing) + svgMarkup(element, style, box, content, drawing, html);
  }
  const own = isNative(element, style) ? '' : boxMarkup(style, placed, drawing);
  if (isPixels(element)) return own + pixelsMarkup(element, style, placed, drawing);
  const before = pseudoMarkup(element, '::before', placed, drawing);
  const after = pseudoMarkup(element, '::after', placed, drawing);
  if (isControl(element)) return own + controlMarkup(element, style, box, drawing) + before + after;
  const content = before + childrenMarkup(element, style, drawing, turn) + after;
  if (!(element instanceof HTMLElement) || !clips(element, style)) return own + content;
  const rx = radiusOf(style, placed) || undefined;
  return own + group({ 'clip-path': content === '' ? undefined : drawing.clip(placed, rx) }, content);
}

function childrenMarkup(
  element: Element,
  style: CSSStyleDeclaration,
  drawing: Drawing,
  turn: Turn | undefined,
): string {
  return inPaintOrder(shownChildren(element))
    .map((node) => {
      if (node instanceof Text) return textMarkup(node, style, drawing, turn);
      return node instanceof Element ? elementMarkup(node, drawing, turn) : '';
    })
    .join('');
}

/** An element and its rendered descendants. */
export function elementMarkup(element: Element, drawing: Drawing, turn: Turn | undefined): string {
  const style = getComputedStyle(element);
  if (style.display === 'none' || style.opacity === '0' || element.localName === 'style') return '';
  if (style.display === 'contents') return childrenMarkup(element, style, drawing, turn);
  if (isForReadersOfScreens(element.getBoundingClientRect(), style)) return '';
  return group(effectsOf(style), inner(element, style, drawing, turned(turn, style.transform)));
}
