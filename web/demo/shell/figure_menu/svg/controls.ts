// Form controls that the browser renders natively: sliders, checkboxes, text fields, selects. Drawn in a plain style in
// the page's colours, with their current value.

import { painted } from './colours.js';
import type { Box, Drawing } from './drawing.js';
import { px, tag } from './markup.js';
import { lineMarkup, measuresOf } from './text.js';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement | HTMLProgressElement | HTMLMeterElement;

const controls = 'input, select, textarea, progress, meter';
export const isControl = (element: Element): element is Control => element.matches(controls);

/** Whether the browser also renders the control's box natively, so that its CSS background and borders do not show. */
export const isNative = (element: Element, style: CSSStyleDeclaration): boolean =>
  style.appearance !== 'none' && element.matches('[type=range], [type=checkbox], [type=radio], progress, meter');

const accentOf = (style: CSSStyleDeclaration): string =>
  style.accentColor === 'auto' ? style.color : style.accentColor;

/** A bar filled to a share of its width. */
function bar(style: CSSStyleDeclaration, { x, y, width, height }: Box, share: number, thick: number): string {
  const line = { x, y: y + (height - thick) / 2, height: thick, rx: thick / 2 };
  const rail = tag('rect', { ...line, width, ...painted('fill', style.color), 'fill-opacity': 0.25 });
  return rail + tag('rect', { ...line, width: width * share, ...painted('fill', accentOf(style)) });
}

const shareOf = (value: number, low: number, high: number): number =>
  Math.min(1, Math.max(0, high > low ? (value - low) / (high - low) : 0));

function slider(input: HTMLInputElement, style: CSSStyleDeclaration, box: Box): string {
  const radius = Math.min(8, box.height / 2);
  const share = shareOf(input.valueAsNumber, Number(input.min || 0), Number(input.max || 100));
  const cx = box.x + radius + share * (box.width - 2 * radius);
  const knob = { cx, cy: box.y + box.height / 2, r: radius, ...painted('fill', accentOf(style)) };
  return bar(style, box, shareOf(cx, box.x, box.x + box.width), 4) + tag('circle', knob);
}

function tick(input: HTMLInputElement, style: CSSStyleDeclaration, { x, y, width, height }: Box): string {
  const round = input.type === 'radio';
  const rect = { x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, rx: round ? width / 2 : 2 };
  const fill = input.checked ? painted('fill', accentOf(style)) : { fill: 'none' };
  const mark = `M${px(x + width * 0.25)} ${px(y + height * 0.52)}l${px(width * 0.18)} ${px(height * 0.2)}l${px(width * 0.34)} ${px(-height * 0.42)}`;
  const sign = { d: mark, fill: 'none', stroke: '#ffffff', 'stroke-width': 1.8 };
  return (
    tag('rect', { ...rect, ...fill, ...painted('stroke', style.color) }) + (input.checked ? tag('path', sign) : '')
  );
}

/** The lines of a text field from its top left corner; a single line is centred vertically. */
function fieldText(text: string, style: CSSStyleDeclaration, box: Box, drawing: Drawing): string {
  const { ascent, descent } = measuresOf(style);
  const high = Number.parseFloat(style.lineHeight) || 1.2 * (ascent + descent);
  const left = Number.parseFloat(style.paddingLeft) + Number.parseFloat(style.borderLeftWidth);
  const top = Number.parseFloat(style.paddingTop) + Number.parseFloat(style.borderTopWidth);
  const lines = text.split('\n').slice(0, Math.max(1, Math.floor(box.height / high)));
  const context = document.createElement('canvas').getContext('2d');
  if (context) context.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const start = lines.length === 1 ? box.y + (box.height - high) / 2 : box.y + top;
  return lines
    .map((line, i) => {
      const width = context?.measureText(line).width ?? box.width;
      const room = box.width - 2 * left;
      const shift = style.textAlign === 'center' ? (room - width) / 2 : style.textAlign === 'right' ? room - width : 0;
      const place = { x: box.x + left + Math.max(0, shift), y: start + i * high, width, height: high };
      return line === '' ? '' : lineMarkup(line, place, style, drawing);
    })
    .join('');
}

function chevron(style: CSSStyleDeclaration, { x, y, width, height }: Box): string {
  const d = `M${px(x + width - 20)} ${px(y + height / 2 - 2)}l4 4l4 -4`;
  return tag('path', { d, fill: 'none', ...painted('stroke', style.color), 'stroke-width': 1.5 });
}

/** The native rendering of a control inside its box. */
export function controlMarkup(control: Control, style: CSSStyleDeclaration, box: Box, drawing: Drawing): string {
  if (style.visibility !== 'visible') return '';
  if (control instanceof HTMLProgressElement) return bar(style, box, Math.max(0, control.position), 6);
  if (control instanceof HTMLMeterElement) return bar(style, box, shareOf(control.value, control.min, control.max), 6);
  if (control instanceof HTMLSelectElement) {
    const text = control.selectedOptions[0]?.label ?? '';
    const native = style.appearance === 'none' ? '' : chevron(style, box);
    return fieldText(text, style, box, drawing) + native;
  }
  if (control instanceof HTMLTextAreaElement) return fieldText(control.value, style, box, drawing);
  if (style.appearance === 'none' && ['checkbox', 'radio', 'range'].includes(control.type)) return '';
  if (control.type === 'range') return slider(control, style, box);
  if (control.type === 'checkbox' || control.type === 'radio') return tick(control, style, box);
  if (['color', 'file', 'hidden', 'image'].includes(control.type)) return '';
  return fieldText(control.value || control.placeholder, style, box, drawing);
}
