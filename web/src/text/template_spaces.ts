// The white space around the tags of a template, as Jinja removes it with lstrip_blocks and trim_blocks: the interpreter
// would remove JavaScript's, and what is in plain texts and in quotes, too. It does not know `raw`, either.

import { keptRange } from './python_space.js';

const quoted = (mark: string) => `${mark}(?:\\\\[^]?|[^\\\\${mark}])*(?:${mark}|$)`;
const ended = (by: string) => `(?:${quoted("'")}|${quoted('"')}|[^'"])*?(?:${by}|$)`;
const [rawStart, rawEnd] = ['\\{%[-+]?\\s*raw\\s*-?%\\}', '\\{%[-+]?\\s*endraw\\s*[-+]?%\\}'];
/** Raw blocks, comments, statements and expressions; what has no end goes on to that of the template. */
const tags = new RegExp(
  `(${rawStart}[^]*?(?:${rawEnd}|$)|\\{#[^]*?(?:#\\}|$)|\\{%${ended('%\\}')}|\\{\\{${ended('\\}\\}')})`,
);
const raw = new RegExp(`^(${rawStart})([^]*)(${rawEnd})$`);

/** A template without the white space that its tags remove, whose tags remove none. */
export function withoutSpaces(source: string): string {
  return source
    .split(tags)
    .map((part, i, parts) =>
      i % 2 === 0 ? whole(textBetween(part, parts[i - 1], parts[i + 1] ?? '')) : plainTag(part),
    )
    .join('');
}

/** A text after which any tag may come: a { before one would begin another. */
const whole = (text: string): string => text.replace(/{$/, '{{"{"}}');

function textBetween(text: string, before: string | undefined, after: string): string {
  const sign = /^.{3,}([-+])[#%}]}$/s.exec(before ?? '')?.[1];
  const isTrimmed = sign !== '+' && /[#%]}$/.test(before ?? '') && text[0] === '\n';
  const first = sign === '-' ? keptRange(text)[0] : Number(isTrimmed);
  const kept = text.slice(first);
  const [, last] = keptRange(kept, undefined, false);
  // Before a block what its line has.
  const line = kept.lastIndexOf('\n') + 1;
  const isBlank = last <= line && (line > 0 || first > 0 || before === undefined);
  const end = /^{.-/.test(after) ? last : /^{[#%](?!\+)/.test(after) && isBlank ? line : kept.length;
  return after ? kept.slice(0, end) : kept;
}

/**
 * Blocks of what the model says, which transformers may mark, have the white space and the variables of filters; raw blocks
 * are texts.
 */
function plainTag(tag: string): string {
  const [, start = '', text, end = ''] = raw.exec(tag) ?? [];
  if (text !== undefined) return `{{ ${JSON.stringify(textBetween(text, start.endsWith('-%}') ? start : '', end))} }}`;
  const plain = tag.replace(/^(..)[-+]/s, '$1 ').replace(/(?<=...)([-+])(?=[#%]}$)|(?<=...)-(?=}}$)/s, ' ');
  const marks = /^{%\s*(end)?generation\s*%}$/.exec(plain);
  return marks ? `{% ${marks[1] ? 'endfilter' : 'filter string'} %}` : plain;
}
