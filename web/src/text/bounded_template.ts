// Executes Jinja templates with limits. Templates are untrusted programs that may loop for ever or grow a value until
// memory is exhausted: the number of steps and the size of values are bounded, in proportion to the conversation.

import { ClearformerError } from '../support/error.js';
import { expectText, listOf, numberOf } from './python_builtins.js';
import { dated } from './python_dates.js';
import { PythonInterpreter } from './python_template.js';
import {
  asKind,
  callable,
  entriesOf,
  functionOf,
  isDictionary,
  made,
  rangeText,
  type Scope,
  textOf,
  type Value,
  wordsOf,
} from './python_values.js';
import type { Node } from './template_nodes.js';
import { parsed } from './template_parser.js';

const longestSource = 2 ** 18; // characters; published templates have some ten thousand
const manySpaces = /\s{1000}/;
/** Steps of about a microsecond; linear in the characters, and quadratic in the messages, of the conversation. */
const steps = { always: 2 ** 19, eachCharacter: 8, eachPair: 8 };
/** Characters and elements of one value, including nested ones. */
const size = { always: 2 ** 22, eachCharacter: 8 };
const longestRange = 2 ** 20;
/** Levels of lists and dictionaries in a value, and of expressions and statements in one another: of a kilobyte of stack each. */
const deepest = { value: 200, evaluation: 400 };
// Operations that cost more than a step.
const charactersInStep = 16;
const addedInStep = 1024; // characters of a sum, whose parts have been paid for
const dateInSteps = 256;

/** Characters and elements of a value at any depth, and how deep it is. */
interface Measure {
  readonly weight: number;
  readonly depth: number;
}
const single: Measure = { weight: 1, depth: 0 };

/** A parsed template. */
export interface BoundedTemplate {
  render(variables: Readonly<Record<string, unknown>>): string;
}

/** Parses a template, whose lines may end in any way; throws if it is invalid or too long. */
export function boundedTemplate(source: string): BoundedTemplate {
  if (source.length > longestSource) throw tooMuch(`has ${source.length} characters; ${longestSource} are read`);
  if (manySpaces.test(source)) throw tooMuch('has a thousand spaces in a row');
  const program = parsed(source.replace(/\r\n?/g, '\n').replace(/\n$/, ''));
  return {
    render(variables) {
      const interpreter = new BoundedInterpreter();
      interpreter.declare(variables);
      return wordsOf(interpreter.evaluate(program, interpreter.global));
    },
  };
}

function tooMuch(what: string): ClearformerError {
  return new ClearformerError('unsupported', `chat_template: it ${what}`);
}

/** Every expression and statement passes through `evaluate`, which counts steps. */
class BoundedInterpreter extends PythonInterpreter {
  readonly #measures = new WeakMap<Value, Measure>();
  #depth = 0;
  #stepsLeft = steps.always;
  #largest = size.always;

  constructor() {
    super();
    const globals: Readonly<Record<string, Value>> = {
      cycler: functionOf('cycler', 'any', cycler),
      joiner: functionOf('joiner', ['sep'], joiner),
      namespace: callable(namespace),
      raise_exception: functionOf('raise_exception', ['message'], (message) => {
        throw new Error(message && textOf(message));
      }),
      range: functionOf('range', 'any', range),
      strftime_now: functionOf('strftime_now', ['format'], (format) => {
        this.#pay(dateInSteps);
        return made(dated(expectText(format), new Date()));
      }),
    };
    for (const [name, value] of Object.entries(globals)) this.global.set(name, value);
  }

  declare(variables: Readonly<Record<string, unknown>>): void {
    for (const [name, given] of Object.entries(variables)) {
      const value = made(given);
      this.global.set(name, value); // a variable goes before a function of its name
      const { weight: characters } = this.#measure(value);
      this.#stepsLeft += steps.eachCharacter * characters;
      this.#largest += size.eachCharacter * characters;
      if (Array.isArray(value.value)) this.#stepsLeft += steps.eachPair * value.value.length ** 2;
    }
  }

  override evaluate(node: Node | undefined, scope: Scope): Value {
    if (++this.#depth > deepest.evaluation)
      throw tooMuch(`is nested, or calls itself, more than ${deepest.evaluation} times`);
    try {
      const value = super.evaluate(node, scope);
      this.#pay(1 + this.#cost(value, node?.type));
      return value;
    } finally {
      this.#depth--;
    }
  }

  /** The cost of inspecting a value; a filter, such as `sort`, or a comparison may have inspected everything in it. */
  #cost(value: Value, node: string | undefined): number {
    const { weight, depth } = this.#measure(value);
    if (weight > this.#largest) throw tooMuch(`makes a value of ${weight} characters and elements`);
    if (depth > deepest.value) throw tooMuch(`makes a value of more than ${deepest.value} lists in one another`);
    const { value: held } = value;
    const isWhole = node === 'FilterExpression' || node === 'Held';
    if (Array.isArray(held)) return held.length + (isWhole ? weight / charactersInStep : 0);
    if (typeof held === 'string') return weight / (node === 'BinaryExpression' ? addedInStep : charactersInStep);
    return 0;
  }

  /** Without the contents of a namespace, which may contain itself. */
  #measure(value: Value): Measure {
    const { value: held, type } = value;
    if (typeof held === 'string') return { weight: held.length, depth: 0 };
    if (!(Array.isArray(held) || held instanceof Map) || type === 'namespace') return single;
    const known = this.#measures.get(value);
    if (known !== undefined) return known;
    let [weight, depth] = [1, 0];
    for (const [key, each] of held.entries()) {
      const inner = this.#measure(each);
      weight += String(key).length + inner.weight;
      depth = Math.max(depth, inner.depth + 1);
    }
    const measured = { weight, depth };
    this.#measures.set(value, measured);
    return measured;
  }

  #pay(cost: number): void {
    this.#stepsLeft -= cost;
    if (this.#stepsLeft < 0) throw tooMuch('takes more steps than such a conversation needs');
  }
}

/** A dictionary whose entries can be set: those of another, or pairs, and what has a name. */
function namespace(given: readonly Value[], named: ReadonlyMap<string, Value>): Value {
  const [from, ...others] = given;
  if (others.length > 0) throw new Error(`namespace: ${given.length} arguments are too many`);
  const pairs = from === undefined ? [] : isDictionary(from) ? entriesOf(from) : listOf(from).map(pairIn);
  return { type: 'namespace', value: new Map<unknown, Value>([...pairs, ...named]) };
}

/** Items in turn: `next()`, `current`, `reset()`. */
function cycler(...items: Value[]): Value {
  if (items.length === 0) throw new Error('cycler: it takes items');
  const entries = new Map<unknown, Value>();
  let at = 0;
  const turn = (place: number) => {
    at = place % items.length;
    entries.set('current', items[at] as Value);
  };
  const next = () => {
    const now = items[at] as Value;
    turn(at + 1);
    return now;
  };
  const reset = () => {
    turn(0);
    return made(null);
  };
  entries.set('next', functionOf('next', [], next)).set('reset', functionOf('reset', [], reset));
  turn(0);
  return { type: 'namespace', value: entries };
}

/** A function whose first result is empty, and each later one the separator. */
function joiner(separator?: Value): Value {
  let isFirst = true;
  return functionOf('joiner', [], () => {
    const found = isFirst ? made('') : (separator ?? made(', '));
    isFirst = false;
    return found;
  });
}

function pairIn(item: Value): [unknown, Value] {
  const [key, value, ...others] = listOf(item);
  if (key === undefined || value === undefined || others.length > 0) throw new Error('namespace: it takes pairs');
  return [expectText(key), value];
}

/** Python's range(start, stop, step). */
function range(...given: readonly Value[]): Value {
  const [first = 0, second, step = 1] = given.map((each) => numberOf(each, 0));
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!Number.isFinite(length)) throw new Error('range() step must not be zero');
  if (length > longestRange) throw tooMuch(`counts to ${length}`);
  const numbers = made(Array.from({ length }, (_, i) => start + i * step));
  return asKind(numbers, rangeText(start, stop, step));
}
