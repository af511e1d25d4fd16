// Jinja's expressions as Python evaluates them.

import { calculated, repeated, signed, sliced } from './python_arithmetic.js';
import {
  attributeOf,
  compared,
  formatted,
  isNothing,
  listOf,
  operators,
  order,
  ordered,
  orNothing,
  tests,
} from './python_builtins.js';
import { filters, keyBy } from './python_filters.js';
import { isMarkup, markup, markupOf } from './python_markup.js';
import { type Method, methodsOf } from './python_methods.js';
import {
  asKind,
  dictionaryOf,
  entriesOf,
  equal,
  float,
  functionOf,
  isDefined,
  isDictionary,
  isList,
  isNumber,
  isText,
  isTrue,
  isTuple,
  itemsOf,
  keyIn,
  listOfValues,
  made,
  nameOf,
  namesIn,
  type Run,
  Scope,
  textOf,
  type Value,
  wordsOf,
} from './python_values.js';
import type { Node } from './template_nodes.js';

/** An expression that has been evaluated. */
const held = (value: Value): Node => ({ type: 'Held', value });

/** How a template calls a value, to name it in errors: `message.content`. */
function spelt(node: Node | undefined): string {
  const { object, property, operand, value } = node ?? {};
  if (object) return `${spelt(object)}.${property?.value}`;
  return operand ? spelt(operand) : typeof value === 'string' ? value : 'it';
}

/** The arguments of a function, by place and by name. */
type Arguments = readonly [given: Value[], named: Map<string, Value>];

const mostArguments = 1000; // they are on the engine's stack

/** Evaluates the expressions of a program. */
export class PythonExpressions {
  readonly global = new Scope();

  /** The value of a node; without one it is undefined. */
  evaluate(node: Node | undefined, scope: Scope): Value {
    switch (node?.type) {
      case undefined:
        return made(undefined);
      case 'Identifier':
        return scope.get(String(node.value)) ?? made(undefined);
      case 'StringLiteral':
      case 'IntegerLiteral':
        return made(node.value);
      case 'FloatLiteral':
        return float(Number(node.value));
      case 'Held':
        return node.value as Value;
      case 'Print': {
        const value = this.evaluate(node.expression, scope);
        return isText(value) ? value : made(textOf(value));
      }
      case 'Items': {
        const value = this.evaluate(node.expression, scope);
        return isList(value) ? value : listOfValues(listOf(value, spelt(node.expression)));
      }
      case 'ArrayLiteral':
        return listOfValues(this.#all(node.value as Node[], scope));
      case 'TupleLiteral':
        return asKind(listOfValues(this.#all(node.value as Node[], scope)), 'tuple');
      case 'ObjectLiteral':
        return this.#dictionary(node, scope);
      case 'TestExpression': {
        const passes = this.#tested(node.test?.value, this.#all(node.test?.args ?? [], scope));
        return made(passes(this.evaluate(node.operand, scope)) !== node.negate);
      }
      case 'Ternary':
        return this.evaluate(isTrue(this.evaluate(node.test, scope)) ? node.left : node.right, scope);
      case 'UnaryExpression': {
        const value = this.evaluate(node.operand, scope);
        return node.operator === 'not' ? made(!isTrue(value)) : signed(String(node.operator), value);
      }
      case 'BinaryExpression':
        return this.#binary(node, scope);
      case 'Comparison':
        return this.#compared(node, scope);
      case 'FilterExpression':
        return this.#filtered(node, scope);
      case 'CallExpression':
        return this.#called(node, scope);
      case 'MemberExpression':
        return this.#member(node, scope);
      default:
        throw new Error(`Unknown node type: ${node?.type}`);
    }
  }

  /** A dictionary, whose keys may be texts, numbers, truth values or None. */
  #dictionary({ value }: Node, scope: Scope): Value {
    const entries = [...(value as Map<Node, Node>)].map(([key, each]) => {
      const found = this.evaluate(key, scope);
      if (!/^(string|integer|float|boolean|null)$/.test(found.type)) throw new Error(`${nameOf(found)} is no key here`);
      return [found.value, this.evaluate(each, scope)] as const;
    });
    return dictionaryOf(entries);
  }

  /** What has an attribute, a method or items. */
  #object({ object }: Node, scope: Scope): Value {
    const found = this.evaluate(object, scope);
    if (isDefined(found)) return found;
    throw new Error(`${spelt(object)} is undefined`);
  }

  /** An item or an attribute: methods go before a dictionary's keys in `a.b`, a text's items are its code points. */
  #member(node: Node, scope: Scope): Value {
    const { property, computed } = node;
    if (property?.type === 'SliceExpression') {
      const whole = this.evaluate(node.object, scope);
      const { start, stop, step } = property;
      const [first, end, by] = this.#all([start, stop, step], scope) as [Value, Value, Value];
      this.evaluate(held(whole), scope); // counts it
      return sliced(whole, first, end, by);
    }
    const from = this.#object(node, scope);
    let key = (computed ? this.evaluate(property, scope) : property)?.value;
    if (typeof key === 'boolean' && !isDictionary(from)) key = Number(key);
    if (!computed && Object.hasOwn(methodsOf(from), String(key)))
      return functionOf(String(key), 'any', () => made(null));
    let found: Value | undefined;
    if (from.value instanceof Map) found = entriesOf(from).get(keyIn(entriesOf(from), key));
    else if (typeof key === 'string' && isList(from)) found = itemsOf(from)[namesIn(from).indexOf(key)];
    else if (typeof key === 'number' && isList(from)) found = itemsOf(from).at(key);
    else if (typeof key === 'number' && isText(from)) {
      this.evaluate(held(from), scope); // counts it
      return made([...wordsOf(from)].at(key));
    }
    return found ?? made(undefined);
  }

  /** A call of a function, of a method, or of `dict`. */
  #called(node: Node, scope: Scope): Value {
    const { callee, args = [] } = node;
    if (callee?.value === 'dict') return dictionaryOf(args.flatMap((each) => this.#entries(each, scope)));
    if (callee?.type !== 'MemberExpression' || callee.computed) return this.#function(node, callee, scope);
    const object = this.#object(callee, scope);
    const name = String(callee.property?.value);
    const methods = methodsOf(object);
    if (Object.hasOwn(methods, name)) return this.#applied(name, methods[name] as Method, object, args, scope);
    const found = object.value instanceof Map ? entriesOf(object).get(name) : undefined;
    if (found === undefined) throw new Error(`${spelt(callee.object)}: ${nameOf(object)} has no ${name}`);
    return this.#function(node, held(found), scope);
  }

  /** What an argument of `dict` has: a named value, or a dictionary's. */
  #entries(node: Node, scope: Scope): [unknown, Value][] {
    if (node.type === 'KeywordArgumentExpression') return [[node.key, this.evaluate(node.argument, scope)]];
    const from = this.evaluate(node.argument ?? node, scope);
    if (!isDictionary(from)) throw new Error(`dict: ${nameOf(from)} is no dictionary`);
    return [...entriesOf(from)];
  }

  #function(node: Node, callee: Node | undefined, scope: Scope): Value {
    const found = this.evaluate(callee, scope);
    if (found.type !== 'function') throw new Error(`${spelt(node.callee)} is ${nameOf(found)}, not a function`);
    return (found.value as Run)(...this.arguments(node.args ?? [], scope));
  }

  protected arguments(given: readonly Node[], scope: Scope): Arguments {
    const [placed, named]: Arguments = [[], new Map()];
    const name = (key: string, value: Value) => {
      if (named.has(key)) throw new Error(`${key} is given twice`);
      named.set(key, value);
    };
    for (const node of given) {
      const value = this.evaluate(node.argument ?? node, scope);
      if (node.type === 'SpreadExpression') for (const each of listOf(value)) placed.push(each);
      else if (node.type === 'KeywordArgumentExpression') name(String(node.key), value);
      else if (node.type !== 'KeywordSpreadExpression') placed.push(value);
      else if (isDictionary(value)) for (const [key, each] of entriesOf(value)) name(String(key), each);
      else throw new Error(`**: ${nameOf(value)} is no dictionary`);
    }
    if (placed.length > mostArguments) throw new Error(`${placed.length} arguments are too many`);
    return [placed, named];
  }

  /** The result of a filter or a method for these arguments. */
  #applied(name: string, [parameters, run]: Method, own: Value, given: readonly Node[], scope: Scope): Value {
    return run(own, ...this.#named(name, given, parameters, scope));
  }

  /** Comparisons of each operand with the next one, up to the first that does not hold. */
  #compared({ operand, comparisons = [] }: Node, scope: Scope): Value {
    let left = this.evaluate(operand, scope);
    for (const [value, node] of comparisons) {
      const right = this.evaluate(node, scope);
      if (!isTrue(this.#operated(left, value, right))) return made(false);
      left = right;
    }
    return made(true);
  }

  #binary(node: Node, scope: Scope): Value {
    const left = this.evaluate(node.left, scope);
    if (node.operator === 'and' || node.operator === 'or')
      return isTrue(left) === (node.operator === 'or') ? left : this.evaluate(node.right, scope);
    return this.#operation(node, left, this.evaluate(node.right, scope), scope);
  }

  #operation(node: Node, left: Value, right: Value, scope: Scope): Value {
    const { operator = '' } = node;
    if (operator === '~') return made(textOf(left) + textOf(right));
    if (operator === '%' && isText(left))
      return made(formatted(wordsOf(left), isTuple(right) ? itemsOf(right) : [right]));
    if (operator === '+' && isText(left) && isText(right)) {
      return isMarkup(left) || isMarkup(right)
        ? markup(markupOf(left) + markupOf(right))
        : made(textOf(left) + textOf(right));
    }
    if (compared.includes(operator) && (operator.endsWith('=') || isList(right))) {
      for (const value of [left, right]) if (!isText(value)) this.evaluate(held(value), scope); // counts them
      const same = operator.endsWith('=') ? equal(left, right) : itemsOf(right).some((each) => equal(left, each));
      return made(same === (operator === '==' || operator === 'in'));
    }
    if (/in$/.test(operator) && isDictionary(right))
      return made(entriesOf(right).has(keyIn(entriesOf(right), left.value)) === (operator === 'in'));
    if (/in$/.test(operator) && !isDefined(right)) return made(operator === 'not in');
    const lost = [left, right].findIndex(isNothing);
    if (lost >= 0)
      throw new Error(`${spelt(lost === 0 ? node.left : node.right)} is ${nameOf(lost === 0 ? left : right)}`);
    if (/in$/.test(operator) && isText(left) && isText(right))
      return made(wordsOf(right).includes(wordsOf(left)) === (operator === 'in'));
    const isOrder = ordered[operator];
    if (isOrder) return made(isOrder(order(left, right)));
    if (operator === '+' && (isText(left) !== isText(right) || isTuple(left) !== isTuple(right))) {
      const other = spelt(isText(left) ? node.right : node.left);
      throw new Error(`${nameOf(left)} and ${nameOf(right)} cannot be added: ${other}`);
    }
    if (operator === '*' && isNumber(left) !== isNumber(right)) {
      return isNumber(right) ? repeated(left, right) : repeated(right, left);
    }
    for (const value of [left, right]) this.evaluate(held(value), scope); // counts them
    return calculated(operator, left, right);
  }

  #filtered(node: Node, scope: Scope): Value {
    const { value, args: given = [] } = node.filter as Node;
    const name = String(value);
    const operand = this.evaluate(node.operand, scope);
    const found = this.#ofItems(name, operand, given, scope);
    if (found !== undefined) return found;
    if (!Object.hasOwn(filters, name)) throw new Error(`Unknown filter: ${name}`);
    return this.#applied(name, filters[name] as Method, operand, given, scope);
  }

  /** Filters that call other filters, or tests; undefined for others. */
  #ofItems(name: string, operand: Value, given: readonly Node[], scope: Scope): Value | undefined {
    const items = () => (isTrue(operand) ? listOf(operand) : []); // also of None
    switch (name) {
      case 'format':
        return made(formatted(textOf(operand), this.#all(given, scope)));
      case 'map': {
        const [which, ...args] = given;
        if (which === undefined) return undefined;
        if (which.type.startsWith('Keyword')) {
          const [path, usual] = this.#named(name, given, 'attribute default?', scope) as [Value, Value];
          const attributes = items().map((item) => attributeOf(item, textOf(path)));
          return listOfValues(attributes.map((each) => (isDefined(each) ? each : usual)));
        }
        const filter = { type: 'Identifier', value: textOf(this.evaluate(which, scope)), args };
        const mapped = (item: Value): Node => ({ type: 'FilterExpression', operand: held(item), filter });
        return listOfValues(items().map((item) => this.evaluate(mapped(item), scope)));
      }
      case 'selectattr':
      case 'rejectattr': {
        const kept = this.#kept(this.#all(given, scope));
        return listOfValues(items().filter((each) => kept(each) === (name === 'selectattr')));
      }
      case 'select':
      case 'reject': {
        const [which, ...others] = this.#all(given, scope);
        const passes = this.#tested(which && textOf(which), others);
        return listOfValues(items().filter((each) => passes(each) === (name === 'select')));
      }
      case 'sum': {
        const [attribute, start] = this.#named(name, given, 'attribute? start?', scope);
        const each = listOf(operand).map(keyBy(name, attribute));
        return each.reduce((sum, one) => this.#operated(sum, '+', one), orNothing(start) ?? made(0));
      }
      default:
        return undefined;
    }
  }

  #all(given: readonly (Node | undefined)[], scope: Scope): Value[] {
    return given.map((each) => this.evaluate(each, scope));
  }

  /** Arguments by place or by name, of parameters of which those with `?` may be missing: undefined. */
  #named(name: string, given: readonly Node[], parameters: string, scope: Scope): Value[] {
    const isNamed = ({ type }: Node) => type.startsWith('Keyword');
    const placed = given.filter((each) => !isNamed(each));
    const known = parameters.split(' ').filter(Boolean);
    const found = known.map((each, i) => {
      const key = each.replace('?', '');
      const node = placed[i] ?? given.find((one) => isNamed(one) && one.key === key)?.argument;
      return node ?? (each === key ? [] : undefined);
    });
    if (found.filter(Boolean).length < given.length || found.some(Array.isArray))
      throw new Error(`${name}: ${given.length} arguments are too few or too many`);
    return this.#all(found as Node[], scope);
  }

  #operated(left: Value, operator: string, right: Value): Value {
    return this.#operation({ type: 'BinaryExpression', operator }, left, right, this.global);
  }

  /** Whether an item has the attribute, or has it as the named test says; one that is missing is undefined. */
  #kept([name, ...test]: readonly Value[]): (item: Value) => boolean {
    if (name === undefined || !(isText(name) || isNumber(name))) throw new Error('an attribute must be a string');
    const [which, ...others] = test;
    const passes = this.#tested(which && textOf(which), others);
    return (item) => passes(attributeOf(item, textOf(name)));
  }

  /** Whether a value is as the named test says; without one whether it is true. */
  #tested(test: unknown, others: readonly Value[]): (value: Value) => boolean {
    if (test === undefined) return isTrue;
    const which = String(test);
    const [other] = others;
    const operator = Object.hasOwn(operators, which) ? operators[which] : undefined;
    if (operator !== undefined && other !== undefined)
      return (value) => this.#operated(value, operator, other).value === true;
    const known = Object.hasOwn(tests, which) ? tests[which] : undefined;
    if (known === undefined) throw new Error(`Unknown test: ${which}`);
    return (value) => known(value, ...others);
  }
}
