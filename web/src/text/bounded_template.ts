// Executes Jinja templates with limits. Templates are untrusted programs that may loop for ever or grow a value until
// memory is exhausted: the number of steps and the size of values are bounded, in proportion to the conversation.

import type { Environment, Interpreter } from '@huggingface/jinja';
import { ClearformerError } from '../support/error.js';
import { numberOf } from './python_builtins.js';
import { dated } from './python_dates.js';
import { PythonInterpreter } from './python_template.js';
import { asKind, made, type Value } from './python_values.js';
import { parsed } from './template_parser.js';

const longestSource = 2 ** 18; // characters; published templates have some ten thousand
const manySpaces = /\s{1000}/;
/** Steps of about a microsecond; linear in the characters, and quadratic in the messages, of the conversation. */
const steps = { always: 2 ** 19, eachCharacter: 8, eachPair: 8 };
/** Characters and elements of one value, including nested ones. */
const size = { always: 2 ** 22, eachCharacter: 8 };
const longestRange = 2 ** 20;
// Operations that cost more than a step.
const charactersInStep = 16;
const addedInStep = 1024; // characters of a sum, whose parts have been paid for
const absent = 16; // an undefined variable is an exception within the interpreter
const dateInSteps = 256;
const sourceInStep = 64; // a macro's body is traversed when it is defined

type Evaluate = Interpreter['evaluate'];

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
      const interpreter = new BoundedInterpreter(source.length);
      interpreter.declare(variables);
      return interpreter.run(program as Parameters<Interpreter['run']>[0]).value as string;
    },
  };
}

function tooMuch(what: string): ClearformerError {
  return new ClearformerError('unsupported', `chat_template: it ${what}`);
}

/** Every expression and statement passes through `evaluate`, which counts steps. */
class BoundedInterpreter extends PythonInterpreter {
  readonly #weights = new WeakMap<Value, number>();
  readonly #perMacro: number;
  #stepsLeft = steps.always;
  #largest = size.always;

  constructor(sourceLength: number) {
    super();
    this.#perMacro = sourceLength / sourceInStep;
    const globals = {
      raise_exception: (message: string) => {
        throw new Error(message);
      },
      strftime_now: (format: string) => {
        this.#pay(dateInSteps);
        return dated(format, new Date());
      },
    };
    for (const [name, value] of Object.entries(globals)) this.global.set(name, value);
    Object.assign(this.global.set('range', range), { value: range }); // gets and returns values of the template
  }

  declare(variables: Readonly<Record<string, unknown>>): void {
    for (const [name, given] of Object.entries(variables)) {
      this.global.variables.delete(name); // a variable goes before a function of its name
      const value = this.global.set(name, given);
      const characters = this.#weigh(value);
      this.#stepsLeft += steps.eachCharacter * characters;
      this.#largest += size.eachCharacter * characters;
      if (Array.isArray(value.value)) this.#stepsLeft += steps.eachPair * value.value.length ** 2;
    }
  }

  override evaluate(statement: Parameters<Evaluate>[0], environment: Environment): Value {
    const type = statement?.type;
    if (type === 'Macro' || type === 'CallStatement') this.#pay(this.#perMacro);
    const value = super.evaluate(statement, environment);
    this.#pay(1 + this.#cost(value, type));
    return value;
  }

  /** The cost of inspecting a value; a filter, such as `sort`, or a comparison may have inspected everything in it. */
  #cost(value: Value, node: string | undefined): number {
    const weight = this.#weigh(value);
    if (weight > this.#largest) throw tooMuch(`makes a value of ${weight} characters and elements`);
    const { value: held, type } = value;
    const isWhole = node === 'FilterExpression' || node === 'Held';
    if (Array.isArray(held)) return held.length + (isWhole ? weight / charactersInStep : 0);
    if (typeof held === 'string') return weight / (node === 'BinaryExpression' ? addedInStep : charactersInStep);
    return type === 'UndefinedValue' ? absent : 0;
  }

  /** Characters and elements at any depth; without the contents of a namespace, which may contain itself. */
  #weigh(value: Value): number {
    const { value: held, type } = value;
    if (typeof held === 'string') return held.length;
    if (!(Array.isArray(held) || held instanceof Map) || type === 'NamespaceValue') return 1;
    const known = this.#weights.get(value);
    if (known !== undefined) return known;
    let weight = 1;
    for (const [key, each] of held.entries()) weight += String(key).length + this.#weigh(each);
    this.#weights.set(value, weight);
    return weight;
  }

  #pay(cost: number): void {
    this.#stepsLeft -= cost;
    if (this.#stepsLeft < 0) throw tooMuch('takes more steps than such a conversation needs');
  }
}

/** Python's range(start, stop, step). */
function range(given: readonly Value[]): Value {
  const [first = 0, second, step = 1] = given.map((each) => numberOf(each, 0));
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!Number.isFinite(length)) throw new Error('range() step must not be zero');
  if (length > longestRange) throw tooMuch(`counts to ${length}`);
  const numbers = made(Array.from({ length }, (_, i) => start + i * step));
  return asKind(numbers, `range(${start}, ${stop}${step === 1 ? '' : `, ${step}`})`);
}
