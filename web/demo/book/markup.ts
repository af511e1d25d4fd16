// The markup of the catalogue's strings:
//   *italic*  **bold**  `code`  {q|Q}  coloured: q k v s (stream) a (accent)
//   [text](?key=value)  sets a parameter   [text](#/masks?key=value)  opens a chapter   [text](https://…)  external
//   {name}  a value computed by the figure; a sentence with one that is not there is left out, so that an empty value
//           ({isTurned}) keeps a sentence for those models that it is true of

import { html, type TemplateResult } from 'lit';
import { type Address, type Changes, splitTarget } from './address.js';

type Values = Readonly<Record<string, string>>;
type Rendered = string | TemplateResult;

const patterns =
  /\*\*(?<bold>.+?)\*\*|\*(?<italic>[^*]+)\*|`(?<code>[^`]+)`|\{(?<hue>[qkvsa])\|(?<coloured>(?:[^{}]|\{\w+\})*)\}|\{(?<name>\w+)\}|\[(?<text>[^\]]+)\]\((?<target>[^)\s]+)\)/;

/** A string of the catalogue as a template; a value not computed yet is rendered as an ellipsis. */
export function markup(text: string, values: Values, address: Address): Rendered[] {
  const found = patterns.exec(text);
  if (!found?.groups) return [text];
  const inside = (part: string): Rendered[] => markup(part, values, address);
  const before = text.slice(0, found.index);
  const after = inside(text.slice(found.index + found[0].length));
  return [before, element(found.groups, values, inside, address), ...after];
}

const turning = /[\p{Bidi_Control}\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/** A value that runs from right to left, or changes the direction, does so without the sentence around it. */
const isolated = (value: string): string =>
  turning.test(value) ? `\u2068${value.replace(/[\u2066-\u2069]/g, '')}\u2069` : value;

type Groups = Readonly<Record<string, string | undefined>>;

function element(found: Groups, values: Values, inside: (part: string) => Rendered[], address: Address): Rendered {
  const { bold, italic, code, hue, coloured, name, text, target } = found;
  if (bold !== undefined) return html`<b>${inside(bold)}</b>`;
  if (italic !== undefined) return html`<i>${inside(italic)}</i>`;
  if (code !== undefined) return html`<code>${code}</code>`;
  if (hue !== undefined) return html`<span class=${hue}>${inside(coloured ?? '')}</span>`;
  if (name !== undefined) return isolated(values[name] ?? '…').replaceAll(' %', '\u00A0%');
  return link(inside(text ?? ''), target ?? '', address);
}

function link(text: Rendered[], target: string, address: Address): TemplateResult {
  if (target.startsWith('?')) {
    const changes: Changes = Object.fromEntries(new URLSearchParams(target));
    return html`<button class="ask" type="button" @click=${() => address.set(cleared(changes), 'push')}>${text}</button>`;
  }
  if (target.startsWith('#/')) {
    const { path, query } = splitTarget(target.slice(2));
    return html`<a href=${address.href(path, Object.fromEntries(new URLSearchParams(query)))}>${text}</a>`;
  }
  return html`<a href=${target} rel="noopener">${text}</a>`;
}

/** `?mask=` clears the parameter. */
const cleared = (changes: Changes): Changes =>
  Object.fromEntries(Object.entries(changes).map(([key, value]) => [key, value === '' ? undefined : value]));

const sentenceEnds = /(?<=[.!?][”“"»)*]?)\s+(?=[\p{Lu}[*{`„“"«])/u;

/** The sentences whose values have all been computed, so that none is shown with a gap. */
export function computed(text: string, values: Values): string {
  const known = (sentence: string): boolean =>
    Array.from(sentence.matchAll(/\{(\w+)\}/g)).every(([, name = '']) => values[name] !== undefined);
  return text.split(sentenceEnds).filter(known).join(' ');
}

/** The first sentences of a text, as many as fit, at least one. */
export function beginning(text: string, fits: (text: string) => boolean): string {
  const sentences = text.split(sentenceEnds);
  let count = sentences.length;
  while (count > 1 && !fits(sentences.slice(0, count).join(' '))) count--;
  return sentences.slice(0, count).join(' ');
}

/** The text without markup, for titles and attributes. */
export function plain(text: string, values: Values = {}): string {
  const found = patterns.exec(text);
  if (!found?.groups) return text;
  const { bold, italic, code, coloured, name, text: linked } = found.groups;
  const inner = bold ?? italic ?? code ?? coloured ?? linked;
  const shown = inner === undefined ? isolated(values[name ?? ''] ?? '…') : plain(inner, values);
  return text.slice(0, found.index) + shown + plain(text.slice(found.index + found[0].length), values);
}

/** `{read} of {of}` with its values substituted. */
export const filled = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => isolated(String(values[name] ?? '…')));
