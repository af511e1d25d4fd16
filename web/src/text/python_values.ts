// The values of a template as Python has them: what they are as text and as JSON, and when two are equal.

import { Environment, type Interpreter } from '@huggingface/jinja';

export type Value = ReturnType<Interpreter['evaluate']>;

// A new environment makes all tests anew, which takes longer than most of what templates do.

/** An environment for the variables of a block. */
export function scopeIn(parent: Environment): Environment {
  return Object.assign(Object.create(Environment.prototype), { parent, variables: new Map(), tests: parent.tests });
}

const maker = new Environment();

export function made(given: unknown): Value {
  maker.variables.clear();
  return maker.set('made', given);
}

const Integer = made(0).constructor as new (value: number) => Value;
/** A whole number: made sooner than by `made`. */
export const integer = (value: number): Value => new Integer(value);

// Values of values: of the interpreter's makers they could have neither tuples nor keys other than texts.
export const listOfValues = (value: readonly Value[]): Value => Object.assign(made([]), { value }) as Value;
export function dictionaryOf(entries: Iterable<readonly [unknown, Value]>): Value {
  const value = new Map<unknown, Value>();
  for (const [key, each] of entries) value.set(keyIn(value, key), each);
  return Object.assign(made({}), { value }) as Value;
}
/** A function of values. */
export const functionOf = (run: (...given: Value[]) => Value): Value =>
  Object.assign(
    made(() => null),
    { value: (given: Value[]) => run(...given) },
  ) as Value;

// The contents of values of one kind.
export const wordsOf = ({ value }: Value): string => value as string;
export const itemsOf = ({ value }: Value): Value[] => value as Value[];
export const entriesOf = ({ value }: Value): Map<unknown, Value> => value as Map<unknown, Value>;
/** A key as the entries have it: true is 1 and false 0. */
export function keyIn(entries: ReadonlyMap<unknown, unknown>, key: unknown): unknown {
  const other = typeof key === 'boolean' ? Number(key) : key === 1 || key === 0 ? key === 1 : key;
  return entries.has(key) ? key : entries.has(other) ? other : key;
}
/** A dictionary's key, which is held as JavaScript has it: None as undefined. */
export const keyOf = (held: unknown): Value => made(held ?? null);

export const isText = ({ type }: Value): boolean => type === 'StringValue';
export const isList = ({ type }: Value): boolean => type === 'ArrayValue';
export const isDictionary = ({ type }: Value): boolean => type === 'ObjectValue';
/** What Python has for a list of the interpreter's, if not a list. */
type Kind = 'tuple' | 'dict_keys' | 'dict_values' | 'dict_items' | `range(${string})`;
const kindOf = (value: Value & { kind?: Kind }): Kind | undefined => value.kind;
export const isTuple = (value: Value): boolean => kindOf(value) === 'tuple';
export const asKind = (list: Value, kind: Kind): Value => Object.assign(list, { type: 'ArrayValue', kind });
/** The names of a list's items, if they have some. */
export const namesIn = ({ names = [] }: Value & { names?: readonly string[] }): readonly string[] => names;
export const isDefined = ({ type }: Value): boolean => type !== 'UndefinedValue';
export const isNumber = ({ type }: Value): boolean => ['IntegerValue', 'FloatValue', 'BooleanValue'].includes(type);
export const nameOf = ({ type }: Value): string => type.replace('Value', '').toLowerCase();

/** Python's `==`. */
export function equal(left: Value, right: Value): boolean {
  if (isNumber(left) && isNumber(right)) return Number(left.value) === Number(right.value);
  if (left.type !== right.type || kindOf(left) !== kindOf(right)) return false;
  if (!isDefined(left) || left.type === 'NullValue') return true;
  if (isList(left)) {
    const [one, other] = [itemsOf(left), itemsOf(right)];
    return one.length === other.length && one.every((each, i) => equal(each, other[i] as Value));
  }
  if (!isDictionary(left)) return left.value === right.value;
  const [one, other] = [entriesOf(left), entriesOf(right)];
  if (one.size !== other.size) return false;
  const at = (key: unknown) => other.get(keyIn(other, key));
  return [...one].every(([key, value]) => at(key) !== undefined && equal(value, at(key) as Value));
}

/** Python's `str()`. */
export function textOf(value: Value): string {
  if (isText(value)) return wordsOf(value);
  return isDefined(value) ? representationOf(value) : '';
}

/** Python's `repr()`. */
export function representationOf(value: Value): string {
  switch (value.type) {
    case 'StringValue':
      return quoted(wordsOf(value));
    case 'NullValue':
      return 'None';
    case 'UndefinedValue':
      return 'Undefined';
    case 'BooleanValue':
      return value.value ? 'True' : 'False';
    case 'FloatValue':
      return floatText(value);
    case 'ArrayValue': {
      const items = itemsOf(value).map(representationOf).join(', ');
      if (isTuple(value)) return `(${items}${itemsOf(value).length === 1 ? ',' : ''})`;
      const kind = kindOf(value);
      if (kind?.endsWith(')')) return kind;
      return kind ? `${kind}([${items}])` : `[${items}]`;
    }
    case 'ObjectValue': {
      const entries = [...entriesOf(value)];
      return `{${entries.map(([key, each]) => `${representationOf(keyOf(key))}: ${representationOf(each)}`).join(', ')}}`;
    }
    default: // an integer, or what is no data
      if (Number.isSafeInteger(value.value)) return String(value.value);
      throw new Error(
        isNumber(value) ? `${value.value} is beyond 2 ** 53: give it as a text` : `${nameOf(value)} cannot be written`,
      );
  }
}

/** How `json.dumps` writes: without `indent` everything in a line. */
export interface JsonStyle {
  isAscii: boolean;
  isSorted: boolean;
  indent: string | undefined;
  separators: readonly string[];
}

/** Python's `json.dumps()`; `line` begins the value's last line. Throws for what is no JSON, such as undefined. */
export function jsonOf(value: Value, style: JsonStyle, line = '\n'): string {
  const { isAscii, isSorted, indent, separators } = style;
  const [comma = '', colon = ''] = separators;
  const next = line + indent;
  const inner = (each: Value) => jsonOf(each, style, next);
  const enclosed = (parts: string[], open: string, close: string) => {
    if (indent === undefined || parts.length === 0) return open + parts.join(comma) + close;
    return open + next + parts.join(comma + next) + line + close;
  };
  switch (value.type) {
    case 'NullValue':
      return 'null';
    case 'BooleanValue':
      return String(value.value);
    case 'IntegerValue':
    case 'FloatValue':
      return textOf(value);
    case 'StringValue': {
      const text = JSON.stringify(value.value);
      const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
      return isAscii ? text.replace(/[\x7f-\uffff]/g, escaped) : text;
    }
    case 'ArrayValue':
      if (kindOf(value) !== undefined && !isTuple(value)) break;
      return enclosed(itemsOf(value).map(inner), '[', ']');
    case 'ObjectValue': {
      const entries = [...entriesOf(value)];
      if (isSorted) entries.sort(([one], [other]) => ((one as string) < (other as string) ? -1 : 1));
      const written = entries.map(([held, each]) => {
        const key = inner(keyOf(held));
        return (typeof held === 'string' ? key : `"${key}"`) + colon + inner(each);
      });
      return enclosed(written, '{', '}');
    }
  }
  throw new Error(`${kindOf(value) ?? nameOf(value)} cannot be written as JSON`);
}

function floatText(value: Value): string {
  const size = Math.abs(Number(value.value));
  if (size === 0 || (size >= 1e-4 && size < 1e16)) return value.toString();
  return Number(value.value)
    .toExponential()
    .replace(/(?<=e[+-])\d$/, '0$&');
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\'\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (character) => {
    if (character === "'") return mark === "'" ? "\\'" : "'";
    const code = character.codePointAt(0) ?? 0;
    const [letter, digits] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8];
    return escapes[character] ?? `\\${letter}${code.toString(16).padStart(Number(digits), '0')}`;
  });
  return mark + escaped + mark;
}
