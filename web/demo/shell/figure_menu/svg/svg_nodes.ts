// SVG inside the figure: cloned, with the relevant computed styles as attributes, since the image has no style sheet.
// Ids are renamed, because each shadow root has its own.

import { painted } from './colours.js';
import type { Box, Drawing, Placed } from './drawing.js';
import { escaped, group, px, tag } from './markup.js';
import { dataUrlOf, sharpness } from './pictures.js';
import { typeOf } from './text.js';

type Written = Record<string, string | number | undefined>;
/** Writes HTML inside a foreignObject: the walk passes itself as a callback. */
type HtmlWriter = (element: Element) => string;

// Inherited properties: written only where they differ from the parent's value. The values are SVG's initial values.
const inherited: Readonly<Record<string, string>> = {
  fill: 'rgb(0, 0, 0)',
  'fill-opacity': '1',
  'fill-rule': 'nonzero',
  'clip-rule': 'nonzero',
  stroke: 'none',
  'stroke-opacity': '1',
  'stroke-width': '1px',
  'stroke-dasharray': 'none',
  'stroke-dashoffset': '0px',
  'stroke-linecap': 'butt',
  'stroke-linejoin': 'miter',
  'text-anchor': 'start',
  'dominant-baseline': 'auto',
  'paint-order': 'normal',
  'shape-rendering': 'auto',
  'marker-start': 'none',
  'marker-mid': 'none',
  'marker-end': 'none',
};
const own: Readonly<Record<string, string>> = {
  opacity: '1',
  'stop-opacity': '1',
  'clip-path': 'none',
  mask: 'none',
  'vector-effect': 'none',
};
/** Attributes without effect in an image, or replaced by the computed style. */
const dropped = /^(class|style|id|transform|href|xlink:href|tabindex|role|part|slot|focusable|data-.*|aria-.*|on.*)$/;
const geometry: Readonly<Record<string, readonly string[]>> = {
  rect: ['x', 'y', 'width', 'height', 'rx', 'ry'],
  circle: ['cx', 'cy', 'r'],
  ellipse: ['cx', 'cy', 'rx', 'ry'],
  image: ['x', 'y', 'width', 'height'],
};
const texts = new Set(['text', 'tspan', 'textPath']);
const unpainted = new Set(['script', 'style', 'animate', 'animateTransform', 'animateMotion', 'set', 'metadata']);
const definitions = new Set([
  'defs',
  'symbol',
  'pattern',
  'linearGradient',
  'radialGradient',
  'clipPath',
  'mask',
  'marker',
]);
const colours = new Set(['fill', 'stroke']);

/** A computed value with its references renamed. */
function renamed(value: string, element: Element, drawing: Drawing): string {
  const root = element.getRootNode();
  return value.replace(/url\(["']?[^"'#)]*#([^"')]+)["']?\)/g, (_, id: string) => `url(#${drawing.refer(root, id)})`);
}

function colourOf(name: 'fill' | 'stroke', value: string, element: Element, drawing: Drawing): Written {
  if (value === 'none') return { [name]: 'none' };
  return value.startsWith('url(') ? { [name]: renamed(value, element, drawing) } : painted(name, value);
}

/**
 * The style of `element` that differs from the inherited one, `given`; `now` is the style that its children inherit.
 */
function styleOf(
  element: Element,
  style: CSSStyleDeclaration,
  given: Readonly<Record<string, string>>,
  drawing: Drawing,
): { written: Written; now: Record<string, string> } {
  const now: Record<string, string> = {};
  const written: Written = {};
  for (const name of Object.keys(inherited)) {
    const value = style.getPropertyValue(name);
    now[name] = value;
    if (value === given[name] || value === '') continue;
    if (colours.has(name)) Object.assign(written, colourOf(name as 'fill' | 'stroke', value, element, drawing));
    else written[name] = renamed(value, element, drawing);
  }
  // A colour's alpha is in the same attribute as the property of that name: both are multiplied.
  for (const name of ['fill-opacity', 'stroke-opacity']) {
    const value = style.getPropertyValue(name);
    if (value !== '1' && value !== '') written[name] = Number(value) * Number(written[name] ?? 1);
  }
  for (const [name, usual] of Object.entries(own)) {
    const value = style.getPropertyValue(name);
    if (value !== usual && value !== '') written[name] = renamed(value, element, drawing);
  }
  if (element.localName === 'stop') written['stop-color'] = painted('fill', style.getPropertyValue('stop-color')).fill;
  return { written, now };
}

function transformOf(element: Element, style: CSSStyleDeclaration): string | undefined {
  if (style.transform === 'none') return undefined;
  let [ox = 0, oy = 0] = style.transformOrigin.split(' ').map(Number.parseFloat);
  if (style.getPropertyValue('transform-box') === 'fill-box' && element instanceof SVGGraphicsElement) {
    const { x, y } = element.getBBox();
    [ox, oy] = [ox + x, oy + y];
  }
  const matrix = new DOMMatrix().translate(ox, oy).multiply(new DOMMatrix(style.transform)).translate(-ox, -oy);
  const { a, b, c, d, e, f } = matrix;
  return `matrix(${[a, b, c, d, e, f].map((value) => Number(value.toFixed(5))).join(' ')})`;
}

function attributesOf(element: Element, style: CSSStyleDeclaration, drawing: Drawing): Written {
  const root = element.getRootNode();
  const written: Written = {};
  for (const { name, value } of element.attributes)
    if (!dropped.test(name)) written[name] = renamed(value, element, drawing);
  for (const name of geometry[element.localName] ?? []) {
    const value = /^(-?[\d.]+)px$/.exec(style.getPropertyValue(name))?.[1];
    if (value !== undefined) written[name] = px(Number(value));
  }
  if (element.id !== '') written.id = drawing.wrote(root, element.id);
  const href = element.getAttribute('href') ?? element.getAttribute('xlink:href');
  if (href?.startsWith('#')) written.href = `#${drawing.refer(root, href.slice(1))}`;
  else if (element instanceof SVGImageElement) Object.assign(written, imageOf(element, href ?? '', style));
  return written;
}

function imageOf(element: SVGImageElement, href: string, style: CSSStyleDeclaration): Written {
  const { width, height } = element.getBoundingClientRect();
  const data = href.startsWith('data:') ? href : dataUrlOf(element, 2 * width, 2 * height);
  return { href: data, ...sharpness(style.imageRendering) };
}

function childrenOf(element: Element, given: Record<string, string>, drawing: Drawing, html: HtmlWriter): string {
  return [...element.childNodes]
    .map((node) => {
      if (node instanceof Text) return texts.has(element.localName) ? escaped(node.data.replace(/\s+/g, ' ')) : '';
      return node instanceof Element ? nodeMarkup(node, given, drawing, html) : '';
    })
    .join('');
}

/** HTML in SVG: measured on the screen, so the enclosing transforms are inverted. */
function foreign(element: SVGGraphicsElement, drawing: Drawing, html: HtmlWriter): string {
  const matrix = element.getScreenCTM()?.inverse();
  if (!matrix) return '';
  const corner = drawing.box(new DOMRect(0, 0, 0, 0));
  const { a, b, c, d, e, f } = matrix.translate(-corner.x, -corner.y);
  const content = [...element.children].map(html).join('');
  return group(
    { transform: `matrix(${[a, b, c, d, e, f].map((value) => Number(value.toFixed(5))).join(' ')})` },
    content,
  );
}

function nodeMarkup(
  element: Element,
  given: Readonly<Record<string, string>>,
  drawing: Drawing,
  html: HtmlWriter,
): string {
  const name = element.localName;
  if (unpainted.has(name)) return '';
  if (name === 'title' || name === 'desc') return tag(name, {}, escaped(element.textContent ?? ''));
  const style = getComputedStyle(element);
  if (style.display === 'none' && !definitions.has(name)) return '';
  if (style.opacity === '0') return '';
  const { written, now } = styleOf(element, style, given, drawing);
  const attributes: Written = {
    ...attributesOf(element, style, drawing),
    ...written,
    transform: transformOf(element, style),
  };
  if (name === 'foreignObject')
    return group({ transform: attributes.transform }, foreign(element as SVGGraphicsElement, drawing, html));
  const hidden = style.visibility !== 'visible' && element.childElementCount === 0;
  if (hidden) return '';
  if (texts.has(name)) {
    const { fill: _fill, 'fill-opacity': _opacity, ...type } = typeOf(style, drawing);
    Object.assign(attributes, type);
  }
  if (name === 'svg') attributes.overflow = style.overflowX === 'visible' ? 'visible' : 'hidden';
  const shown = name === 'a' || name === 'switch' ? 'g' : name;
  return tag(shown, attributes, childrenOf(element, now, drawing, html));
}

/** An <svg> element in HTML with the content box `box` on the screen. */
export function svgMarkup(
  svg: SVGSVGElement,
  style: CSSStyleDeclaration,
  box: Box,
  placed: Placed,
  drawing: Drawing,
  html: HtmlWriter,
): string {
  const { written, now } = styleOf(svg, style, inherited, drawing);
  const { opacity: _opacity, 'clip-path': _clip, ...look } = written;
  const view = svg.getAttribute('viewBox') ?? undefined;
  const preserveAspectRatio = svg.getAttribute('preserveAspectRatio') ?? undefined;
  const { x, y, width, height, transform } = placed;
  const overflow = style.overflowX === 'visible' ? 'visible' : 'hidden';
  const attributes = { x, y, width, height, viewBox: view, preserveAspectRatio, overflow, ...look };
  if (box.width <= 0 || box.height <= 0) return '';
  return group({ transform }, tag('svg', attributes, childrenOf(svg, now, drawing, html)));
}

/** Definitions that the image references and that are elsewhere on the page, including those they reference in turn. */
export function missingMarkup(drawing: Drawing): string {
  let content = '';
  for (let missing = drawing.missing(); missing.length > 0; missing = drawing.missing()) {
    for (const element of missing) {
      drawing.wrote(element.getRootNode(), element.id);
      content += nodeMarkup(element, inherited, drawing, () => '');
    }
  }
  return content;
}
