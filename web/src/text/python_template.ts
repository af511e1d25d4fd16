// Jinja as Python runs it, where the interpreter's JavaScript differs: what None, True, lists and dictionaries are as text, when two
// values are equal, what may be added, and loops over texts and over what is undefined.

import { Environment, Interpreter } from '@huggingface/jinja';

type Evaluate = Interpreter['evaluate'];
type Statement = NonNullable<Parameters<Evaluate>[0]>;
export type Value = ReturnType<Evaluate>;

/** A statement or an expression with the members that are read here. */
interface Node extends Statement {
  body?: Node[];
  alternate?: Node[];
  defaultBlock?: Node[];
  iterable?: Node;
  lhs?: Node;
  operator?: { value: string };
  left?: Node;
  right?: Node;
  operand?: Node;
  filter?: Node;
  callee?: Node;
  args?: Node[];
  value?: unknown;
  expression?: Node;
}

const statements = new Set(
  'Program If For Break Continue Set Macro Comment FilterStatement CallStatement StringLiteral'.split(' '),
);
const blocks = ['body', 'alternate', 'defaultBlock'] as const;

/** Marks where expressions are printed and looped over, in place; to be called once with a parsed template. */
export function markPrints(program: Statement): void {
  const node = program as Node;
  for (const block of blocks) {
    node[block]?.forEach(markPrints);
    if (node[block])
      node[block] = node[block].map((each) => (statements.has(each.type) ? each : marked('Print', each)));
  }
  const { iterable } = node;
  if (iterable?.lhs) iterable.lhs = marked('Items', iterable.lhs);
  else if (iterable) node.iterable = marked('Items', iterable);
}

const marked = (type: 'Print' | 'Items', expression: Node): Node => ({ type, expression });
/** An expression that has been evaluated. */
const held = (value: Value): Node => ({ type: 'Held', value });
const made = (given: unknown): Value => new Environment().set('made', given);

const compared = ['==', '!=', 'in', 'not in'];
/** Filters that read any value as text. */
const readText = ['string', 'trim', 'upper', 'lower', 'title', 'capitalize', 'replace'];

/** Runs a program whose prints are marked. */
export class PythonInterpreter extends Interpreter {
  override evaluate(statement: Parameters<Evaluate>[0], environment: Environment): Value {
    const node = statement as Node | undefined;
    switch (node?.type) {
      case 'Held':
        return node.value as Value;
      case 'Print': {
        const value = this.evaluate(node.expression, environment);
        return isText(value) ? value : made(textOf(value));
      }
      case 'Items': {
        const value = this.evaluate(node.expression, environment);
        return isText(value) ? made([...wordsOf(value)]) : value.type === 'UndefinedValue' ? made([]) : value;
      }
      case 'BinaryExpression':
        return this.#binary(node, environment);
      case 'FilterExpression':
        return this.#filtered(node, environment);
      default:
        return super.evaluate(statement, environment);
    }
  }

  #binary(node: Node, environment: Environment): Value {
    const operator = node.operator?.value ?? '';
    if (operator === 'and' || operator === 'or') return super.evaluate(node, environment);
    const left = this.evaluate(node.left, environment);
    const right = this.evaluate(node.right, environment);
    if (operator === '~') return made(textOf(left) + textOf(right));
    if (compared.includes(operator) && (operator.endsWith('=') || isList(right))) {
      for (const value of [left, right]) if (!isText(value)) this.evaluate(held(value), environment); // counts them
      const same = operator.endsWith('=') ? equal(left, right) : itemsOf(right).some((each) => equal(left, each));
      return made(same === (operator === '==' || operator === 'in'));
    }
    if (operator === '+' && isText(left) !== isText(right) && [left, right].every(isDefined)) {
      throw new Error(`${nameOf(left)} and ${nameOf(right)} cannot be added`);
    }
    return super.evaluate({ ...node, left: held(left), right: held(right) } as Statement, environment);
  }

  #filtered(node: Node, environment: Environment): Value {
    const { filter } = node;
    const name = String((filter?.callee ?? filter)?.value);
    let operand = this.evaluate(node.operand, environment);
    if (readText.includes(name) && !isText(operand)) operand = made(textOf(operand));
    const plain = filter?.args?.every(({ type }) => !type.startsWith('Keyword')) ?? true;
    if (name === 'join' && isList(operand) && plain) operand = made(itemsOf(operand).map(textOf));
    if ((name === 'selectattr' || name === 'rejectattr') && isList(operand)) {
      const given = (filter?.args ?? []).map((each) => this.evaluate(each, environment));
      const kept = this.#kept(given, environment);
      const chosen = itemsOf(operand).filter((each) => kept(each) === (name === 'selectattr'));
      return super.evaluate({ type: 'ArrayLiteral', value: chosen.map(held) } as Statement, environment);
    }
    return super.evaluate({ ...node, operand: held(operand) } as Statement, environment);
  }

  /** Whether an item has the attribute, or has it as the named test says; one that is missing is undefined. */
  #kept([name, test, other]: readonly Value[], environment: Environment): (item: Value) => boolean {
    if (name === undefined || !isText(name)) throw new Error('an attribute must be a string');
    const of = (item: Value): Value =>
      (item.type === 'ObjectValue' ? entriesOf(item).get(wordsOf(name)) : undefined) ?? made(undefined);
    if (test === undefined) return (item) => of(item).__bool__().value;
    const which = textOf(test);
    const compare = { equalto: true, eq: true, '==': true, ne: false, '!=': false }[which];
    if (compare !== undefined && other !== undefined) return (item) => equal(of(item), other) === compare;
    const known = environment.tests.get(which);
    if (known === undefined) throw new Error(`Unknown test: ${which}`);
    return (item) => known(of(item), ...(other === undefined ? [] : [other]));
  }
}

// The contents of values of one kind.
const wordsOf = ({ value }: Value): string => value as string;
const itemsOf = ({ value }: Value): Value[] => value as Value[];
const entriesOf = ({ value }: Value): Map<string, Value> => value as Map<string, Value>;

const isText = ({ type }: Value): boolean => type === 'StringValue';
const isList = ({ type }: Value): boolean => type === 'ArrayValue' || type === 'TupleValue';
const isDefined = ({ type }: Value): boolean => type !== 'UndefinedValue';
const isNumber = ({ type }: Value): boolean => ['IntegerValue', 'FloatValue', 'BooleanValue'].includes(type);
const nameOf = ({ type }: Value): string => type.replace('Value', '').toLowerCase();

/** Python's `==`. */
function equal(left: Value, right: Value): boolean {
  if (isNumber(left) && isNumber(right)) return Number(left.value) === Number(right.value);
  if (left.type !== right.type) return false;
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
function textOf(value: Value): string {
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
    case 'ArrayValue':
      return `[${itemsOf(value).map(representationOf).join(', ')}]`;
    case 'TupleValue':
      return `(${itemsOf(value).map(representationOf).join(', ')}${itemsOf(value).length === 1 ? ',' : ''})`;
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
