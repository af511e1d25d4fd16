// The values of a template as Python has them: what they are as text and as JSON, and when two are equal.

type Type =
  | 'string'
  | 'integer'
  | 'float'
  | 'boolean'
  | 'null'
  | 'undefined'
  | 'array'
  | 'object'
  | 'namespace'
  | 'function';

/** A value of a template. */
export interface Value {
  readonly type: Type;
  /** What JavaScript has for it: of a list an array of values, of a dictionary and a namespace a Map, of a function a `Run`. */
  readonly value: unknown;
}

/** What a function does with its arguments by place and by name, and with the macro of the block that calls it. */
export type Run = (given: readonly Value[], named: ReadonlyMap<string, Value>, caller?: Value) => Value;

/** The variables of a block, and of those around it. */
export class Scope {
  readonly #variables = new Map<string, Value>();

  constructor(private readonly parent?: Scope) {}

  get(name: string): Value | undefined {
    return this.#variables.get(name) ?? this.parent?.get(name);
  }

  set(name: string, value: Value): void {
    this.#variables.set(name, value);
  }
}

/** A value of JavaScript's. */
export function made(given: unknown): Value {
  switch (typeof given) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return { type: typeof given, value: given } as Value;
    case 'number':
      return Number.isInteger(given) ? integer(given) : float(given);
    case 'object': {
      if (given === null) return { type: 'null', value: null };
      if (Array.isArray(given)) return listOfValues(Array.from(given, (each) => made(each)));
      return { type: 'object', value: new Map(Object.entries(given).map(([key, each]) => [key, made(each)])) };
    }
    case 'function':
      return callable((args) => made(given(...args.map(plain)) ?? null));
    default:
      throw new Error(`a ${typeof given} is no value of a template`);
  }
}

/** What JavaScript has for a value and for those in it. */
function plain({ value }: Value): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Map ? Object.fromEntries([...value].map(([key, each]) => [key, plain(each)])) : value;
}

export const integer = (value: number): Value => ({ type: 'integer', value });
export const float = (value: number): Value => ({ type: 'float', value });
export const listOfValues = (value: readonly Value[]): Value => ({ type: 'array', value });
export function dictionaryOf(entries: Iterable<readonly [unknown, Value]>): Value {
  const value = new Map<unknown, Value>();
  for (const [key, each] of entries) value.set(keyIn(value, key), each);
  return { type: 'object', value };
}
export const callable = (value: Run): Value => ({ type: 'function', value });
/** Arguments in the order of the parameters; what is not given is undefined. Throws for what has no place. */
export function inOrder(
  name: string,
  parameters: readonly string[],
  given: readonly Value[],
  named: ReadonlyMap<string, Value>,
): (Value | undefined)[] {
  for (const key of named.keys()) {
    const place = parameters.indexOf(key);
    if (place < 0) throw new Error(`${name}: it has no parameter ${key}`);
    if (place < given.length) throw new Error(`${name}: ${key} is given twice`);
  }
  if (given.length > parameters.length) throw new Error(`${name}: ${given.length} arguments are too many`);
  return parameters.map((key, i) => given[i] ?? named.get(key));
}
/** A function with these parameters, or of any number of arguments without names. */
export const functionOf = (
  name: string,
  parameters: readonly string[] | 'any',
  run: (...given: Value[]) => Value,
): Value =>
  callable((given, named, caller) => {
    if (caller) throw new Error(`${name}: it has no parameter caller`);
    const own = parameters === 'any' ? given.map(() => '') : parameters;
    return run(...(inOrder(name, own, given, named) as Value[]));
  });

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

export const isText = ({ type }: Value): boolean => type === 'string';
export const isList = ({ type }: Value): boolean => type === 'array';
export const isDictionary = ({ type }: Value): boolean => type === 'object';
/** What Python has for a list of the interpreter's, if not a list. */
type Kind = 'tuple' | 'dict_keys' | 'dict_values' | 'dict_items' | `range(${string})`;
const kindOf = (value: Value & { kind?: Kind }): Kind | undefined => value.kind;
export const rangeText = (start: number, stop: number, step: number): Kind =>
  `range(${start}, ${stop}${step === 1 ? '' : `, ${step}`})`;
/** Start, stop and step of a range. */
export const rangeOf = (value: Value): number[] | undefined =>
  kindOf(value)?.startsWith('range') ? kindOf(value)?.match(/-?\d+/g)?.map(Number) : undefined;
export const isTuple = (value: Value): boolean => kindOf(value) === 'tuple';
export const asKind = (list: Value, kind: Kind): Value => Object.assign(list, { kind });
/** The names of a list's items, if they have some. */
export const namesIn = ({ names = [] }: Value & { names?: readonly string[] }): readonly string[] => names;
export const isDefined = ({ type }: Value): boolean => type !== 'undefined';
/** Python's `bool()`. */
export function isTrue({ type, value }: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return type === 'object' ? (value as Map<unknown, Value>).size > 0 : Boolean(value);
}
export const isNumber = ({ type }: Value): boolean => /^(integer|float|boolean)$/.test(type);
export const nameOf = ({ type }: Value): string => type;

/** Python's `==`. */
export function equal(left: Value, right: Value): boolean {
  if (isNumber(left) && isNumber(right)) return Number(left.value) === Number(right.value);
  if (left.type !== right.type || kindOf(left) !== kindOf(right)) return false;
  if (!isDefined(left) || left.type === 'null') return true;
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
    case 'string':
      return quoted(wordsOf(value));
    case 'null':
      return 'None';
    case 'undefined':
      return 'Undefined';
    case 'boolean':
      return value.value ? 'True' : 'False';
    case 'float':
      return floatText(value);
    case 'array': {
      const items = itemsOf(value).map(representationOf).join(', ');
      if (isTuple(value)) return `(${items}${itemsOf(value).length === 1 ? ',' : ''})`;
      const kind = kindOf(value);
      if (kind?.endsWith(')')) return kind;
      return kind ? `${kind}([${items}])` : `[${items}]`;
    }
    case 'object': {
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
    case 'null':
      return 'null';
    case 'boolean':
      return String(value.value);
    case 'integer':
    case 'float':
      return textOf(value);
    case 'string': {
      const text = JSON.stringify(value.value);
      const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
      return isAscii ? text.replace(/[\x7f-\uffff]/g, escaped) : text;
    }
    case 'array':
      if (kindOf(value) !== undefined && !isTuple(value)) break;
      return enclosed(itemsOf(value).map(inner), '[', ']');
    case 'object': {
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
  const number = Number(value.value);
  const size = Math.abs(number);
  if (Object.is(number, -0)) return '-0.0';
  if (size === 0 || (size >= 1e-4 && size < 1e16)) return Number.isInteger(number) ? number.toFixed(1) : String(number);
  return number.toExponential().replace(/(?<=e[+-])\d$/, '0$&');
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
