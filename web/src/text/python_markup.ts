// Texts that are HTML, as Jinja's `safe` and `escape` give them: what is added to one of them is escaped.

import { made, textOf, type Value } from './python_values.js';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

export const isMarkup = (value: Value & { isMarkup?: boolean }): boolean => value.isMarkup === true;
export const markup = (text: string): Value => Object.assign(made(text), { isMarkup: true });

/** The text of a value, escaped unless it is HTML. */
export const markupOf = (value: Value): string =>
  isMarkup(value) ? textOf(value) : textOf(value).replace(/[&<>'"]/g, (one) => entities[one] as string);

export const escaped = (value: Value): Value => markup(markupOf(value));
export const safe = (value: Value): Value => markup(textOf(value));
