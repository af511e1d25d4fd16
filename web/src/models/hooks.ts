// Names of hook points: which ones a filter means, and what the core captured under them.

import type { HookPoint } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';
import { patternOf } from '../support/pattern.js';

/** One way to say which activations are wanted; in text, `*` stands for any characters. */
export type NameFilter = string | RegExp | ((name: string) => boolean);
/** Which activations are wanted: one filter or several, of which any may match. */
export type NamesFilter = NameFilter | readonly NameFilter[];

/** The hook names that `filter` means, in the order of the forward pass. Throws `invalid_argument` for a text that means none. */
export function resolveNames(hooks: readonly HookPoint[], filter: NamesFilter | undefined): string[] {
  const names = hooks.map((hook) => hook.name);
  if (filter === undefined) return names;
  const filters: readonly NameFilter[] = Array.isArray(filter) ? filter : [filter as NameFilter];
  const tests = filters.map((one) => testOf(one, names));
  return names.filter((name) => tests.some((test) => test(name)));
}

function testOf(filter: NameFilter, names: readonly string[]): (name: string) => boolean {
  if (typeof filter === 'function') return filter;
  if (filter instanceof RegExp) return (name) => name.search(filter) >= 0; // search ignores lastIndex
  if (typeof filter !== 'string')
    throw new ClearformerError('invalid_argument', 'names_filter: needs names, patterns, a RegExp or a function', {
      option: 'names_filter',
    });
  const pattern = patternOf(filter);
  if (!names.some((name) => pattern.test(name))) throw unknownName(filter, names);
  return (name) => pattern.test(name);
}

function unknownName(filter: string, names: readonly string[]): ClearformerError {
  const last = filter.slice(filter.lastIndexOf('.') + 1);
  const near = names.filter((name) => name.endsWith(last)).slice(0, 3);
  const hint = near.length > 0 ? near : names.slice(0, 3);
  return new ClearformerError(
    'invalid_argument',
    `names_filter: no hook is named '${filter}' (there are ${hint.join(', ')}, …; see hooks())`,
    {
      option: 'names_filter',
      expected: names,
    },
  );
}
