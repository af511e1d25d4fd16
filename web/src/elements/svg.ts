// Creates SVG elements directly, for what is drawn too often for templates.

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A new SVG element with presentation attributes, inside `parent`. */
export function svgElement<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes,
  parent?: Element,
  text?: string,
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  setAttributes(element, attributes);
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return element;
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
  }
}

let ruler: CanvasRenderingContext2D | null | undefined;
const widths = new Map<string, number>();

/** The width of a text in a CSS font. */
export function textWidth(text: string, font: string): number {
  const key = `${font}|${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  ruler ??= document.createElement('canvas').getContext('2d');
  if (!ruler) return text.length * 8;
  ruler.font = font;
  const { width } = ruler.measureText(text);
  if (widths.size > 5000) widths.clear();
  widths.set(key, width);
  return width;
}

/** A new font has loaded: measured widths are invalid. */
export const forgetWidths = (): void => widths.clear();

/** The text, truncated with an ellipsis if it is wider than `most` pixels. */
export function shortened(text: string, font: string, most: number): string {
  if (textWidth(text, font) <= most) return text;
  const letters = [...text];
  while (letters.length > 1 && textWidth(`${letters.join('')}…`, font) > most) letters.pop();
  return `${letters.join('')}…`;
}
