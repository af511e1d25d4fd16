// The forms of the values that properties take: what an element draws is checked before it is drawn.

/**
 * A `typeof`, a whole number, a set of texts (`a number` among them: any number), an object with these members (`name?`: or
 * without), or a list of such values; the rows of a list of lists are equally long.
 */
export type Form =
  | 'string'
  | 'number'
  | 'function'
  | 'index'
  | Set<unknown>
  | { readonly [member: string]: Form }
  | readonly [Form];

const isList = (form: Form): form is readonly [Form] => Array.isArray(form);

function fits(value: unknown, form: Form): boolean {
  if (form === 'index') return Number.isInteger(value);
  if (typeof form === 'string') return typeof value === form;
  if (form instanceof Set) return form.has(typeof value === 'number' ? 'a number' : value);
  if (!isList(form)) {
    if (typeof value !== 'object' || value === null) return false;
    return Object.entries(form).every(([name, one]) => {
      const member = (value as Readonly<Record<string, unknown>>)[name.replace('?', '')];
      return (member === undefined && name.endsWith('?')) || fits(member, one);
    });
  }
  const [one] = form;
  // Not `every`, which leaves out what was never set.
  if (!Array.isArray(value) || !Array.from(value).every((item) => fits(item, one))) return false;
  return !isList(one) || value.every((row) => row.length === value[0].length);
}

/** Why a property's value cannot be drawn, in a sentence for the page's developer; undefined if it can. */
export function misfitOf(name: string, value: unknown, form: Form): string | undefined {
  if (value === undefined || fits(value, form)) return undefined;
  const rows = isList(form) && isList(form[0]) ? ' with rows of one length' : '';
  const text = JSON.stringify(form, (_, one) =>
    one instanceof Set ? `one of ${[...one].filter(Boolean).join()}` : one,
  );
  return `${name} needs ${text.replaceAll('"', '').replaceAll(/[:,]/g, '$& ')}${rows}`;
}
