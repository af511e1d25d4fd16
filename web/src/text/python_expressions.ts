// Jinja's expressions as Python evaluates them, where the interpreter's JavaScript differs: when two values are equal, what
// may be added and compared, what has items, and what the interpreter lacks.

import { type Environment, Interpreter } from '@huggingface/jinja';
import {
  attributeOf,
  compared,
  expectRoom,
  formatted,
  listOf,
  operators,
  order,
  ordered,
  orNothing,
  tests,
} from './python_builtins.js';
import { dictionaryMethods, filters, keyBy, type Method, textMethods } from './python_filters.js';
import { isMarkup, markup, markupOf } from './python_markup.js';
import {
  asKind,
  dictionaryOf,
  entriesOf,
  equal,
  isDefined,
  isDictionary,
  isList,
  isNumber,
  isText,
  isTuple,
  itemsOf,
  keyIn,
  listOfValues,
  made,
  nameOf,
  namesIn,
  textOf,
  type Value,
  wordsOf,
} from './python_values.js';
import type { Node, Statement } from './template_nodes.js';

export type Evaluate = Interpreter['evaluate'];

/** An expression that has been evaluated. */
const held = (value: Value): Node => ({ type: 'Held', value });

/** How a template calls a value, to name it in errors: `message.content`. */
function spelt(node: Node | undefined): string {
  const { object, property, operand, value } = node ?? {};
  if (object) return `${spelt(object)}.${property?.value}`;
  return operand ? spelt(operand) : typeof value === 'string' ? value : 'it';
}

/** Arithmetic is for numbers: true is 1. */
const asNumber = (value: Value): Value => (value.type === 'BooleanValue' ? made(Number(value.value)) : value);

/** A text or a list several times. */
function repeated(whole: Value, times: Value): Value {
  if (times.type === 'FloatValue') throw new Error(`${nameOf(whole)} and float cannot be multiplied`);
  const count = Math.max(0, Number(times.value));
  if (isText(whole)) {
    expectRoom(wordsOf(whole), count);
    return made(wordsOf(whole).repeat(count));
  }
  if (!isList(whole)) throw new Error(`${nameOf(whole)} cannot be multiplied`);
  expectRoom(itemsOf(whole), count);
  const all = listOfValues(Array.from({ length: itemsOf(whole).length && count }, () => itemsOf(whole)).flat());
  return isTuple(whole) ? asKind(all, 'tuple') : all;
}

/** The methods of a value, which go before a dictionary's keys in `a.b`. */
const methodsOf = (value: Value) => (isText(value) ? textMethods : isDictionary(value) ? dictionaryMethods : {});

/** Evaluates the expressions of a program. */
export class PythonExpressions extends Interpreter {
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
        return isList(value) ? value : listOfValues(listOf(value, spelt(node.expression)));
      }
      case 'TupleLiteral':
        return asKind(listOfValues(this.#all(node.value as Node[], environment)), 'tuple');
      case 'ObjectLiteral':
        return this.#dictionary(node, environment);
      case 'TestExpression': {
        const passes = this.#tested(node.test?.value, this.#all(node.test?.args ?? [], environment), environment);
        return made(passes(this.evaluate(node.operand, environment)) !== node.negate);
      }
      case 'BinaryExpression':
        return this.#binary(node, environment);
      case 'Comparison':
        return this.#compared(node, environment);
      case 'FilterExpression':
        return this.#filtered(node, environment);
      case 'CallExpression':
        return this.#called(node, environment);
      case 'MemberExpression':
        return this.#member(node, environment);
      default:
        return super.evaluate(statement, environment);
    }
  }

  /** A dictionary, whose keys may be texts, numbers, truth values or None. */
  #dictionary({ value }: Node, environment: Environment): Value {
    const entries = [...(value as Map<Node, Node>)].map(([key, each]) => {
      const found = this.evaluate(key, environment);
      if (!/^(String|Integer|Float|Boolean|Null)/.test(found.type)) throw new Error(`${nameOf(found)} is no key here`);
      return [found.value, this.evaluate(each, environment)] as const;
    });
    return dictionaryOf(entries);
  }

  /** What has an attribute, a method or items. */
  #object({ object }: Node, environment: Environment): Value {
    const found = this.evaluate(object, environment);
    if (isDefined(found)) return found;
    throw new Error(`${spelt(object)} is undefined`);
  }

  /** An item or an attribute: methods go before a dictionary's keys in `a.b`, a text's items are its code points. */
  #member(node: Node, environment: Environment): Value {
    const { property, computed } = node;
    if (property?.type === 'SliceExpression') {
      const whole = this.evaluate(node.object, environment);
      const part = super.evaluate({ ...node, object: held(whole) } as Statement, environment);
      return isTuple(whole) ? asKind(part, 'tuple') : part;
    }
    const from = this.#object(node, environment);
    let key = (computed ? this.evaluate(property, environment) : property)?.value;
    if (typeof key === 'boolean' && !isDictionary(from)) key = Number(key);
    if (!computed && Object.hasOwn(methodsOf(from), String(key))) return made(() => null);
    let found: Value | undefined;
    if (from.value instanceof Map) found = entriesOf(from).get(keyIn(entriesOf(from), key));
    else if (typeof key === 'string' && isList(from)) found = itemsOf(from)[namesIn(from).indexOf(key)];
    else if (typeof key === 'number' && isList(from)) found = itemsOf(from).at(key);
    else if (typeof key === 'number' && isText(from)) {
      this.evaluate(held(from), environment); // counts it
      return made([...wordsOf(from)].at(key));
    }
    return found ?? made(undefined);
  }

  /** A call of a function, of a method, or of `dict`. */
  #called(node: Node, environment: Environment): Value {
    const { callee, args = [] } = node;
    if (callee?.value === 'dict') return dictionaryOf(args.flatMap((each) => this.#entries(each, environment)));
    if (callee?.type !== 'MemberExpression' || callee.computed) return this.#function(node, callee, environment);
    const object = this.#object(callee, environment);
    const name = String(callee.property?.value);
    const methods = methodsOf(object);
    if (Object.hasOwn(methods, name)) return this.#applied(name, methods[name] as Method, object, args, environment);
    const found = object.value instanceof Map ? entriesOf(object).get(name) : undefined;
    if (found === undefined) throw new Error(`${spelt(callee.object)}: ${nameOf(object)} has no ${name}`);
    return this.#function(node, held(found), environment);
  }

  /** What an argument of `dict` has: a named value, or a dictionary's. */
  #entries({ type, key, value, argument, ...node }: Node, environment: Environment): [unknown, Value][] {
    if (type === 'KeywordArgumentExpression') return [[key?.value, this.evaluate(value as Node, environment)]];
    const from = this.evaluate(argument ?? ({ ...node, type, value } as Node), environment);
    if (!isDictionary(from)) throw new Error(`dict: ${nameOf(from)} is no dictionary`);
    return [...entriesOf(from)];
  }

  #function(node: Node, callee: Node | undefined, environment: Environment): Value {
    const found = this.evaluate(callee, environment);
    if (found.type !== 'FunctionValue') throw new Error(`${spelt(node.callee)} is ${nameOf(found)}, not a function`);
    return super.evaluate({ ...node, callee: held(found) } as Statement, environment);
  }

  /** The result of a filter or a method for these arguments. */
  #applied(
    name: string,
    [parameters, run]: Method,
    own: Value,
    given: readonly Node[],
    environment: Environment,
  ): Value {
    return run(own, ...this.#named(name, given, parameters, environment));
  }

  /** Comparisons of each operand with the next one, up to the first that does not hold. */
  #compared({ operand, comparisons = [] }: Node, environment: Environment): Value {
    let left = this.evaluate(operand, environment);
    for (const [value, node] of comparisons) {
      const right = this.evaluate(node, environment);
      if (!this.#operated(left, value, right).__bool__().value) return made(false);
      left = right;
    }
    return made(true);
  }

  #binary(node: Node, environment: Environment): Value {
    const operator = node.operator?.value ?? '';
    if (operator === 'and' || operator === 'or') return super.evaluate(node, environment);
    return this.#operation(
      node,
      this.evaluate(node.left, environment),
      this.evaluate(node.right, environment),
      environment,
    );
  }

  #operation(node: Node, left: Value, right: Value, environment: Environment): Value {
    const operator = node.operator?.value ?? '';
    if (operator === '~') return made(textOf(left) + textOf(right));
    if (operator === '%' && isText(left))
      return made(formatted(wordsOf(left), isTuple(right) ? itemsOf(right) : [right]));
    if (operator === '+' && isText(left) && isText(right)) {
      return isMarkup(left) || isMarkup(right)
        ? markup(markupOf(left) + markupOf(right))
        : made(textOf(left) + textOf(right));
    }
    if (compared.includes(operator) && (operator.endsWith('=') || isList(right))) {
      for (const value of [left, right]) if (!isText(value)) this.evaluate(held(value), environment); // counts them
      const same = operator.endsWith('=') ? equal(left, right) : itemsOf(right).some((each) => equal(left, each));
      return made(same === (operator === '==' || operator === 'in'));
    }
    if (/in$/.test(operator) && isDictionary(right))
      return made(entriesOf(right).has(keyIn(entriesOf(right), left.value)) === (operator === 'in'));
    const lost = [left, right].findIndex(({ type }) => /^(Undefined|Null)/.test(type));
    if (lost >= 0 && (isDefined(right) || !/in$/.test(operator))) {
      throw new Error(`${spelt(lost === 0 ? node.left : node.right)} is ${nameOf(lost === 0 ? left : right)}`);
    }
    const isOrder = ordered[operator];
    if (isOrder) return made(isOrder(order(left, right)));
    if (operator === '+' && (isText(left) !== isText(right) || isTuple(left) !== isTuple(right))) {
      const other = spelt(isText(left) ? node.right : node.left);
      throw new Error(`${nameOf(left)} and ${nameOf(right)} cannot be added: ${other}`);
    }
    if (operator === '*' && isNumber(left) !== isNumber(right)) {
      return isNumber(right) ? repeated(left, right) : repeated(right, left);
    }
    if (/^[/%]/.test(operator) && isNumber(left) && isNumber(right) && Number(right.value) === 0) {
      throw new Error('division by zero');
    }
    const found = super.evaluate(
      { ...node, left: held(asNumber(left)), right: held(asNumber(right)) } as Statement,
      environment,
    );
    if (isTuple(left) && isTuple(right)) return asKind(found, 'tuple');
    // The sign of a remainder is the divisor's.
    const isOther = operator === '%' && Number(found.value) * Number(right.value) < 0;
    return isOther ? this.#operated(found, '+', right) : found;
  }

  #filtered(node: Node, environment: Environment): Value {
    const { value, args: given = [] } = node.filter as Node;
    const name = String(value);
    const operand = this.evaluate(node.operand, environment);
    const found = this.#ofItems(name, operand, given, environment);
    if (found !== undefined) return found;
    if (!Object.hasOwn(filters, name)) throw new Error(`Unknown filter: ${name}`);
    return this.#applied(name, filters[name] as Method, operand, given, environment);
  }

  /** Filters that call other filters, or tests; undefined for others. */
  #ofItems(name: string, operand: Value, given: readonly Node[], environment: Environment): Value | undefined {
    const items = () => (operand.__bool__().value ? listOf(operand) : []); // also of None
    switch (name) {
      case 'format':
        return made(formatted(textOf(operand), this.#all(given, environment)));
      case 'map': {
        const [which, ...args] = given;
        if (which === undefined) return undefined;
        if (which.type.startsWith('Keyword')) {
          const [path, usual] = this.#named(name, given, 'attribute default?', environment) as [Value, Value];
          const attributes = items().map((item) => attributeOf(item, textOf(path)));
          return listOfValues(attributes.map((each) => (isDefined(each) ? each : usual)));
        }
        const filter = { type: 'Identifier', value: textOf(this.evaluate(which, environment)), args };
        const mapped = (item: Value): Node => ({ type: 'FilterExpression', operand: held(item), filter });
        return listOfValues(items().map((item) => this.evaluate(mapped(item), environment)));
      }
      case 'selectattr':
      case 'rejectattr': {
        const kept = this.#kept(this.#all(given, environment), environment);
        return listOfValues(items().filter((each) => kept(each) === (name === 'selectattr')));
      }
      case 'select':
      case 'reject': {
        const [which, ...others] = this.#all(given, environment);
        const passes = this.#tested(which && textOf(which), others, environment);
        return listOfValues(items().filter((each) => passes(each) === (name === 'select')));
      }
      case 'sum': {
        const [attribute, start] = this.#named(name, given, 'attribute? start?', environment);
        const each = listOf(operand).map(keyBy(name, attribute));
        return each.reduce((sum, one) => this.#operated(sum, '+', one), orNothing(start) ?? made(0));
      }
      default:
        return undefined;
    }
  }

  #all(given: readonly Node[], environment: Environment): Value[] {
    return given.map((each) => this.evaluate(each, environment));
  }

  /** Arguments by place or by name, of parameters of which those with `?` may be missing: undefined. */
  #named(name: string, given: readonly Node[], parameters: string, environment: Environment): Value[] {
    const isNamed = ({ type }: Node) => type.startsWith('Keyword');
    const placed = given.filter((each) => !isNamed(each));
    const known = parameters.split(' ').filter(Boolean);
    const found = known.map((each, i) => {
      const key = each.replace('?', '');
      const node =
        placed[i] ?? (given.find((one) => isNamed(one) && one.key?.value === key)?.value as Node | undefined);
      return node ?? (each === key ? [] : undefined);
    });
    if (found.filter(Boolean).length < given.length || found.some(Array.isArray))
      throw new Error(`${name}: ${given.length} arguments are too few or too many`);
    return this.#all(found as Node[], environment);
  }

  #operated(left: Value, operator: string, right: Value): Value {
    return this.#operation({ type: 'BinaryExpression', operator: { value: operator } }, left, right, this.global);
  }

  /** Whether an item has the attribute, or has it as the named test says; one that is missing is undefined. */
  #kept([name, ...test]: readonly Value[], environment: Environment): (item: Value) => boolean {
    if (name === undefined || !(isText(name) || isNumber(name))) throw new Error('an attribute must be a string');
    const [which, ...others] = test;
    const passes = this.#tested(which && textOf(which), others, environment);
    return (item) => passes(attributeOf(item, textOf(name)));
  }

  /** Whether a value is as the named test says; without one whether it is true. */
  #tested(test: unknown, others: readonly Value[], environment: Environment): (value: Value) => boolean {
    if (test === undefined) return (value) => value.__bool__().value;
    const which = String(test);
    const [other] = others;
    const operator = Object.hasOwn(operators, which) ? operators[which] : undefined;
    if (operator !== undefined && other !== undefined)
      return (value) => this.#operated(value, operator, other).value === true;
    const known = (Object.hasOwn(tests, which) ? tests[which] : undefined) ?? environment.tests.get(which);
    if (known === undefined) throw new Error(`Unknown test: ${which}`);
    return (value) => known(value, ...others);
  }
}
