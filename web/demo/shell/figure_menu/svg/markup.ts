// SVG as text: tags, attributes, numbers with two decimals.

export type Attributes = Readonly<Record<string, string | number | undefined>>;

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as it may stand in XML, between tags and in attributes; control characters, which XML has no form for, go. */
export function escaped(text: string): string {
  const known = Array.from(text).filter((character) => character >= ' ' || character === '\n' || character === '\t');
  return known.join('').replace(/[&<>"]/g, (character) => escapes[character] ?? character);
}

/** A length in px with the digits that a picture needs. */
export const px = (value: number): number => Math.round(100 * value) / 100;

/** One element; attributes that are undefined are left out. */
export function tag(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? px(value) : escaped(String(value))}"`)
    .join('');
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

/** `content` in a group, or by itself where the group would say nothing. */
export function group(attributes: Attributes, content: string): string {
  if (content === '' || Object.values(attributes).every((value) => value === undefined)) return content;
  return tag('g', attributes, content);
}

/** What CSS does to an element as a whole: its opacity, and filters such as `invert(1)`. */
export const effectsOf = ({ opacity, filter }: CSSStyleDeclaration): Attributes => ({
  opacity: opacity === '1' ? undefined : Number(opacity),
  style: filter === 'none' || filter === '' ? undefined : `filter:${filter}`,
});
