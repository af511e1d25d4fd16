// Selects hook points by name.

import type { HookPoint } from '../runtime/border.js';
import { type HookName, ourName, type TransformerLens3Name } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';
import { isA } from '../support/kinds.js';
import { nameTest } from '../support/pattern.js';

/** A filter of activations; in strings, `*` matches any characters. */
export type NameFilter =
  | HookName
  | TransformerLens3Name
  | `${string}*${string}`
  | RegExp
  | ((name: HookName) => boolean);
/** A selection of activations: one filter or several, any of which may match. */
export type NamesFilter = NameFilter | readonly NameFilter[];

/** A hook point, and whether it is in a stack that the pass leaves out. */
export interface PassHook extends HookPoint {
  absent?: boolean;
}

/**
 * The hook points selected by `filter`, in the order of the forward pass. Those computed on request are selected only by
 * filters that name them: filters that would not match another hook of the same scope. `option` starts the error message:
 * `invalid_argument` for a string that matches none of `hooks`. Of those that a pass leaves out only what is named.
 */
export function resolveHooks(option: string, hooks: readonly PassHook[], filter: NamesFilter): HookPoint[] {
  const filters: readonly NameFilter[] = Array.isArray(filter) ? filter : [filter as NameFilter];
  const tests = filters.map((one) => testOf(option, one, hooks));
  const chosen = tests.map((test) => {
    const found = hooks.filter(({ name, on_request }) => {
      const other = `${name.slice(0, name.lastIndexOf('.') + 1)}hook_`;
      return test(name) && !(on_request && test(other as HookName));
    });
    const met = found.filter(({ absent }) => absent !== true);
    return new Set(met.length > 0 ? met : found);
  });
  return hooks.filter((hook) => chosen.some((some) => some.has(hook)));
}

/** The same of hook points that were computed: those on request are like any other. Default: all. */
export const resolveCaptured = (option: string, hooks: readonly HookPoint[], filter: NamesFilter = '*'): HookPoint[] =>
  resolveHooks(
    option,
    hooks.map((point) => ({ ...point, on_request: false })),
    filter,
  );

function testOf(option: string, filter: NameFilter, hooks: readonly HookPoint[]): (name: HookName) => boolean {
  if (typeof filter === 'function') return filter;
  if (isA(filter, 'RegExp')) return (name) => name.search(filter) >= 0; // search ignores lastIndex
  if (typeof filter !== 'string')
    throw new ClearformerError('invalid_argument', `${option}: needs names, patterns, a RegExp or a function`, {
      option,
    });
  const tests = [filter, ourName(filter)].map(nameTest);
  const test = (name: string) => tests.some((one) => one(name));
  // What is behind the last layer may have no hook.
  if (filter !== '*' && !hooks.some(({ name }) => test(name))) throw unknownName(option, filter, hooks);
  return test;
}

function unknownName(option: string, filter: string, hooks: readonly HookPoint[]): ClearformerError {
  const names = hooks.map(({ name }) => name);
  const last = filter.slice(filter.lastIndexOf('.') + 1);
  const near = names.filter((name) => name.endsWith(last)).slice(0, 3);
  const hint = near.length > 0 ? near : names.slice(0, 3);
  const known = hint.length > 0 ? `there are ${hint.join(', ')}, …; see hooks()` : 'there is none';
  return new ClearformerError('invalid_argument', `${option}: no hook is named '${filter}' (${known})`, {
    option,
    expected: names,
  });
}
