// Jinja as Python runs it, where the interpreter's JavaScript differs: what is printed, when two values are equal, what
// may be added, where variables are seen, loops over texts and over what is undefined, and what the interpreter lacks.

import { type Environment, Interpreter } from '@huggingface/jinja';
import {
  compared,
  expectRoom,
  lineEnd,
  listOf,
  operators,
  textFilters,
  textMethods,
  typesOfTests,
} from './python_builtins.js';
import {
  asTuple,
  entriesOf,
  equal,
  isDefined,
  isList,
  isNumber,
  isText,
  itemsOf,
  made,
  nameOf,
  scopeIn,
  textOf,
  type Value,
  wordsOf,
} from './python_values.js';
import type { Node, Statement } from './template_nodes.js';

type Evaluate = Interpreter['evaluate'];

export type { Value };

type FunctionValue = { value(args: Value[], scope: Environment): Value };

/** What only loops that call themselves change. */
const [depth, depth0] = [made(1), made(0)];
/** An expression that has been evaluated. */
const held = (value: Value): Node => ({ type: 'Held', value });

/** Filters that read any value as text. */
const readText = ['string', 'trim', 'upper', 'lower', 'title', 'capitalize', 'replace'];

/** Runs a program whose prints are marked. */
export class PythonInterpreter extends Interpreter {
  readonly #loops: { isOver: boolean }[] = [];
  /** Ends a turn of a loop, or the loop. */
  readonly #control = new Error('break and continue are for loops');
  /** What a block has printed that an error has ended, which the interpreter would lose. */
  #printed = '';

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
      case 'TupleLiteral':
        return asTuple(super.evaluate(statement, environment));
      case 'Break':
      case 'Continue': {
        const loop = this.#loops.at(-1);
        if (loop) loop.isOver = node.type === 'Break';
        this.#printed = '';
        throw this.#control;
      }
      case 'Scope':
        return this.#block(node, scopeIn(environment));
      case 'Block':
        return this.#block(node, environment);
      case 'For':
        this.#loops.push({ isOver: false });
        try {
          return super.evaluate(statement, environment);
        } finally {
          this.#loops.pop();
        }
      case 'Turn':
        return this.#turn(node, scopeIn(environment));
      case 'TestExpression': {
        const types = typesOfTests[String(node.test?.value)];
        if (types === undefined) return super.evaluate(statement, environment);
        return made(types.test(this.evaluate(node.operand, environment).type) !== node.negate);
      }
      case 'BinaryExpression':
        return this.#binary(node, environment);
      case 'FilterExpression':
        return this.#filtered(node, environment);
      case 'FilterStatement': {
        const operand = held(this.#block(node, scopeIn(environment)));
        return this.evaluate({ type: 'FilterExpression', operand, filter: node.filter } as Statement, environment);
      }
      case 'Macro':
        return this.#macro(node, environment);
      case 'CallExpression':
        return this.#called(node, environment);
      case 'MemberExpression':
        if (node.property?.type === 'SliceExpression') return super.evaluate(statement, environment);
        return this.#member(node, environment);
      default:
        return super.evaluate(statement, environment);
    }
  }

  /** A macro sees the variables of where it is defined, not of where it is called, and the caller that a block passes. */
  #macro(node: Node, environment: Environment): Value {
    const defined = super.evaluate(node, environment);
    const macro = environment.lookupVariable(node.name?.value as string) as FunctionValue;
    const run = macro.value;
    macro.value = (args, { variables }) => {
      const own = scopeIn(environment);
      const caller = variables.get('caller');
      if (caller) own.setVariable('caller', caller);
      return run(args, own);
    };
    return defined;
  }

  /** An item or an attribute: methods go before a dictionary's keys in `a.b`, a text's items are its code points. */
  #member({ object, property, computed }: Node, environment: Environment): Value {
    const from = this.evaluate(object, environment);
    if (!isDefined(from)) throw new Error(`${object?.property?.value ?? object?.value} is undefined`);
    const key = (computed ? this.evaluate(property, environment) : property)?.value;
    let found: Value | undefined;
    if (from.value instanceof Map) found = entriesOf(from).get(key as string);
    else if (typeof key === 'number' && isList(from)) found = itemsOf(from).at(key);
    else if (typeof key === 'number' && isText(from)) {
      this.evaluate(held(from), environment); // counts it
      return made([...wordsOf(from)].at(key));
    }
    const method =
      found && (computed || !/^(get|items|keys|values)$/.test(String(key))) ? found : from.builtins.get(key as string);
    return method ?? found ?? made(undefined);
  }

  /** A call, of `dict` or a text's method if the interpreter lacks it. */
  #called(node: Node, environment: Environment): Value {
    const { callee, args = [] } = node;
    if (callee?.value === 'dict') {
      const value = new Map(args.map((each) => [held(made(each.key?.value)), each.value]));
      return this.evaluate({ type: 'ObjectLiteral', value } as Statement, environment);
    }
    const name = callee?.type === 'MemberExpression' && !callee.computed ? String(callee.property?.value) : '';
    const isOwn = Object.hasOwn(textMethods, name) && (name !== 'split' || args.length === 0);
    const method = isOwn ? textMethods[name] : undefined;
    if (method === undefined) return super.evaluate(node, environment);
    const object = this.evaluate(callee?.object, environment);
    if (!isText(object)) {
      return super.evaluate({ ...node, callee: { ...callee, object: held(object) } } as Statement, environment);
    }
    if (args.length > 1 || args.length < method.length - 1)
      throw new Error(`${name}: ${args.length} arguments are too few or too many`);
    return made(method(wordsOf(object), ...(this.#all(args, environment) as [Value])));
  }

  #block({ body = [] }: Node, environment: Environment): Value {
    let text = '';
    for (const each of body) {
      try {
        const value = this.evaluate(each, environment);
        if (isText(value)) text += wordsOf(value);
      } catch (thrown) {
        // What a filter or a variable would have got is lost.
        this.#printed = text + (each.type === 'If' ? this.#printed : '');
        throw thrown;
      }
    }
    return made(text);
  }

  /** One turn of the innermost loop. */
  #turn(node: Node, environment: Environment): Value {
    if (this.#loops.at(-1)?.isOver) return super.evaluate({ type: 'Break' } as Statement, environment);
    const loop = environment.lookupVariable('loop').value;
    if (loop instanceof Map && loop.has('previtem')) loop.set('depth', depth).set('depth0', depth0);
    try {
      return this.#block(node, environment);
    } catch (thrown) {
      if (thrown !== this.#control) throw thrown;
      return made(this.#printed);
    }
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
    if (operator === '~' || (operator === '+' && isText(left) && isText(right)))
      return made(textOf(left) + textOf(right));
    if (compared.includes(operator) && (operator.endsWith('=') || isList(right))) {
      for (const value of [left, right]) if (!isText(value)) this.evaluate(held(value), environment); // counts them
      const same = operator.endsWith('=') ? equal(left, right) : itemsOf(right).some((each) => equal(left, each));
      return made(same === (operator === '==' || operator === 'in'));
    }
    if (operator === '+' && isText(left) !== isText(right) && [left, right].every(isDefined)) {
      throw new Error(`${nameOf(left)} and ${nameOf(right)} cannot be added`);
    }
    if (operator === '*' && isText(left) && isNumber(right)) {
      const times = Math.max(0, Number(right.value));
      expectRoom(wordsOf(left), times);
      return made(wordsOf(left).repeat(times));
    }
    if (/^[/%]/.test(operator) && isNumber(left) && isNumber(right) && Number(right.value) === 0) {
      throw new Error('division by zero');
    }
    const found = super.evaluate({ ...node, left: held(left), right: held(right) } as Statement, environment);
    // The sign of a remainder is the divisor's.
    const isOther = operator === '%' && Number(found.value) * Number(right.value) < 0;
    return isOther ? this.#operated(found, '+', right) : found;
  }

  #filtered(node: Node, environment: Environment): Value {
    const { filter } = node;
    const name = String((filter?.callee ?? filter)?.value);
    let operand = this.evaluate(node.operand, environment);
    if (readText.includes(name) && !isText(operand)) operand = made(textOf(operand));
    if (name === 'indent') operand = made(textOf(operand).replace(lineEnd, '\n'));
    const found = this.#ofItems(name, operand, filter, environment);
    if (found !== undefined) return found;
    if (Object.hasOwn(textFilters, name))
      return made(textFilters[name]?.(textOf(operand), ...this.#all(filter?.args ?? [], environment)));
    return super.evaluate({ ...node, operand: held(operand) } as Statement, environment);
  }

  /** Filters of whatever can be looped over, where the interpreter lacks them; undefined for others. */
  #ofItems(name: string, operand: Value, filter: Node | undefined, environment: Environment): Value | undefined {
    const given = filter?.args ?? [];
    const items = () => listOf(operand);
    const some = () => (operand.__bool__().value ? items() : []); // also of None
    switch (name) {
      case 'default': {
        const [usual, isAlso] = this.#named(given, ['default_value', 'boolean'], environment) as [Value, Value];
        if (isDefined(operand) && (operand.__bool__().value || !isAlso.__bool__().value)) return operand;
        return isDefined(usual) ? usual : made('');
      }
      case 'items':
        return isDefined(operand) ? undefined : made([]);
      case 'first':
        return isText(operand) ? made(/^./su.exec(wordsOf(operand))?.[0]) : (items()[0] ?? made(undefined));
      case 'list':
        return this.#listed(items());
      case 'map': {
        const [which, ...args] = given;
        if (which === undefined) return undefined;
        if (which.type.startsWith('Keyword')) {
          const [path, usual] = this.#named(given, ['attribute', 'default'], environment) as [Value, Value];
          const attributes = some().map((item) => this.#attribute(item, textOf(path)));
          return this.#listed(attributes.map((each) => (isDefined(each) ? each : usual)));
        }
        const callee = { type: 'Identifier', value: textOf(this.evaluate(which, environment)) };
        const each = args.length === 0 ? callee : { type: 'CallExpression', callee, args };
        const mapped = (item: Value): Node => ({ type: 'FilterExpression', operand: held(item), filter: each });
        return this.#listed(some().map((item) => this.evaluate(mapped(item), environment)));
      }
      case 'int': {
        if (!isText(operand) && !isNumber(operand)) return undefined;
        const number = Number(isText(operand) ? wordsOf(operand).trim() || Number.NaN : operand.value);
        if (Number.isFinite(number) && !/[box]/i.test(textOf(operand))) return made(Math.trunc(number));
        const [usual] = this.#named(given, ['default'], environment) as [Value];
        return isDefined(usual) ? usual : made(0);
      }
      case 'join': {
        const [separator, attribute] = this.#named(given, ['d', 'attribute'], environment).map(textOf) as [
          string,
          string,
        ];
        const each = attribute ? items().map((item) => this.#attribute(item, attribute)) : items();
        expectRoom(separator, each.length);
        return made(each.map(textOf).join(separator));
      }
      case 'last':
        return isText(operand) ? made(/.$/su.exec(wordsOf(operand))?.[0]) : (items().at(-1) ?? made(undefined));
      case 'count':
      case 'length':
        return made(items().length);
      case 'selectattr':
      case 'rejectattr': {
        const kept = this.#kept(this.#all(given, environment), environment);
        return this.#listed(some().filter((each) => kept(each) === (name === 'selectattr')));
      }
      case 'sort': {
        const [, , attribute] = this.#named(given, ['reverse', 'case_sensitive', 'attribute'], environment);
        if (attribute && textOf(attribute).includes(',')) throw new Error('sort: it takes one attribute');
        return undefined;
      }
      case 'unique': {
        if (given.length > 0) return undefined;
        const seen = new Set();
        const keyOf = (item: Value) =>
          isText(item) ? wordsOf(item).toLowerCase() : isNumber(item) ? Number(item.value) : item;
        return this.#listed(items().filter((item) => !seen.has(keyOf(item)) && seen.add(keyOf(item))));
      }
      case 'select':
      case 'reject': {
        const passes = this.#tested(this.#all(given, environment), environment);
        return this.#listed(some().filter((each) => passes(each) === (name === 'select')));
      }
      default:
        return undefined;
    }
  }

  #all(given: readonly Node[], environment: Environment): Value[] {
    return given.map((each) => this.evaluate(each, environment));
  }

  /** Arguments of these names, by place or by name; those that are missing are undefined. */
  #named(given: readonly Node[], names: readonly string[], environment: Environment): Value[] {
    const isNamed = ({ type }: Node) => type.startsWith('Keyword');
    const placed = given.filter((each) => !isNamed(each));
    const called = (name: string) => given.find((each) => isNamed(each) && each.key?.value === name)?.value as Node;
    return names.map((name, i) => this.evaluate(placed[i] ?? called(name), environment));
  }

  /** An attribute, or one of an attribute, as `a.b`; digits are the place of an item. */
  #attribute(item: Value, path: string): Value {
    const inside = (object: Value, name: string) => {
      const key = /^\d+$/.test(name) ? Number(name) : name;
      return this.#member({ type: '', object: held(object), property: held(made(key)), computed: true }, this.global);
    };
    return path.split('.').reduce(inside, item);
  }

  #listed(items: readonly Value[]): Value {
    return super.evaluate({ type: 'ArrayLiteral', value: items.map(held) } as Statement, this.global);
  }

  #operated(left: Value, operator: string, right: Value): Value {
    return this.#operation({ type: 'BinaryExpression', operator: { value: operator } }, left, right, this.global);
  }

  /** Whether an item has the attribute, or has it as the named test says; one that is missing is undefined. */
  #kept([name, ...test]: readonly Value[], environment: Environment): (item: Value) => boolean {
    if (name === undefined || !(isText(name) || isNumber(name))) throw new Error('an attribute must be a string');
    const passes = this.#tested(test, environment);
    return (item) => passes(this.#attribute(item, textOf(name)));
  }

  /** Whether a value is as the named test says; without one whether it is true. */
  #tested([test, ...others]: readonly Value[], environment: Environment): (value: Value) => boolean {
    if (test === undefined) return (value) => value.__bool__().value;
    const which = textOf(test);
    const [other] = others;
    const operator = operators[which];
    if (operator !== undefined && other !== undefined)
      return (value) => this.#operated(value, operator, other).value === true;
    const known = environment.tests.get(which);
    if (known === undefined) throw new Error(`Unknown test: ${which}`);
    return (value) => known(value, ...others);
  }
}
