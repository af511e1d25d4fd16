// SVG as text: tags, attributes, numbers with two decimals.

export type Attributes = Readonly<Record<string, string | number | undefined>>;

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for XML content and attributes; control characters, which XML 1.0 can't represent, are removed. */
export function escaped(text: string): string {
  const known = Array.from(text).filter((character) => character >= ' ' || character === '\n' || character === '\t');
  return known.join('').replace(/[&<>"]/g, (character) => escapes[character] ?? character);
}

/** A length in px, rounded to two decimals. */
export const px = (value: number): number => Math.round(100 * value) / 100;

/** An element; undefined attributes are omitted. */
export function tag(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? px(value) : escaped(String(value))}"`)
    .join('');
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

/** `content` in a group, or alone if the group would have no attributes. */
export function group(attributes: Attributes, content: string): string {
  if (content === '' || Object.values(attributes).every((value) => value === undefined)) return content;
  return tag('g', attributes, content);
}

/** CSS effects on an element as a whole: its opacity, and filters such as `invert(1)`. */
export const effectsOf = ({ opacity, filter }: CSSStyleDeclaration): Attributes => ({
  opacity: opacity === '1' ? undefined : Number(opacity),
  style: filter === 'none' || filter === '' ? undefined : `filter:${filter}`,
});
