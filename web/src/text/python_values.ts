// The values of a template as Python has them: what they are as text, and when two are equal.

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

// The contents of values of one kind.
export const wordsOf = ({ value }: Value): string => value as string;
export const itemsOf = ({ value }: Value): Value[] => value as Value[];
export const entriesOf = ({ value }: Value): Map<string, Value> => value as Map<string, Value>;

export const isText = ({ type }: Value): boolean => type === 'StringValue';
export const isList = ({ type }: Value): boolean => type === 'ArrayValue';
/** A list that is a tuple: of the interpreter's own kind it could be neither unpacked nor written as JSON. */
const isTuple = (value: Value & { isTuple?: boolean }): boolean => value.isTuple === true;
export const asTuple = (list: Value): Value => Object.assign(list, { type: 'ArrayValue', isTuple: true });
export const isDefined = ({ type }: Value): boolean => type !== 'UndefinedValue';
export const isNumber = ({ type }: Value): boolean => ['IntegerValue', 'FloatValue', 'BooleanValue'].includes(type);
export const nameOf = ({ type }: Value): string => type.replace('Value', '').toLowerCase();

/** Python's `==`. */
export function equal(left: Value, right: Value): boolean {
  if (isNumber(left) && isNumber(right)) return Number(left.value) === Number(right.value);
  if (left.type !== right.type || isTuple(left) !== isTuple(right)) return false;
  if (!isDefined(left) || left.type === 'NullValue') return true;
  if (isList(left)) {
    const [one, other] = [itemsOf(left), itemsOf(right)];
    return one.length === other.length && one.every((each, i) => equal(each, other[i] as Value));
  }
  if (left.type !== 'ObjectValue') return left.value === right.value;
  const [one, other] = [entriesOf(left), entriesOf(right)];
  if (one.size !== other.size) return false;
  return [...one].every(([key, value]) => other.has(key) && equal(value, other.get(key) as Value));
}

/** Python's `str()`. */
export function textOf(value: Value): string {
  if (isText(value)) return wordsOf(value);
  return isDefined(value) ? representationOf(value) : '';
}

/** Python's `repr()`. */
function representationOf(value: Value): string {
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
      return isTuple(value) ? `(${items}${itemsOf(value).length === 1 ? ',' : ''})` : `[${items}]`;
    }
    case 'ObjectValue': {
      const entries = [...entriesOf(value)];
      return `{${entries.map(([key, each]) => `${quoted(key)}: ${representationOf(each)}`).join(', ')}}`;
    }
    default:
      return value.toString();
  }
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
