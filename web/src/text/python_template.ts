// Jinja's statements as Python runs them, where the interpreter's JavaScript differs: where variables are seen, loops over
// texts and over what is undefined, loops that call themselves, and what the interpreter lacks.

import type { Environment } from '@huggingface/jinja';
import { listOf } from './python_builtins.js';
import { type Evaluate, PythonExpressions } from './python_expressions.js';
import {
  dictionaryOf,
  entriesOf,
  equal,
  functionOf,
  integer,
  isText,
  itemsOf,
  listOfValues,
  made,
  nameOf,
  scopeIn,
  type Value,
  wordsOf,
} from './python_values.js';
import type { Node } from './template_nodes.js';

const [yes, no, nothing] = [made(true), made(false), made(undefined)];

type FunctionValue = { value(args: Value[], scope: Environment): Value };

/** Runs a parsed program. */
export class PythonInterpreter extends PythonExpressions {
  /** What the `loop` of recursive loops calls. */
  readonly #again = new WeakMap<Value, (items: Value) => Value>();
  /** Ends a turn of a loop, or the loop. */
  readonly #control = new Error('break and continue are for loops');
  #isBreak = false;
  /** What a block has printed that an error has ended, which the interpreter would lose. */
  #printed = '';

  override evaluate(statement: Parameters<Evaluate>[0], environment: Environment): Value {
    const node = statement as Node | undefined;
    switch (node?.type) {
      case 'Break':
      case 'Continue':
        this.#isBreak = node.type === 'Break';
        this.#printed = '';
        throw this.#control;
      case 'Set':
        this.#assign(node.target as Node, this.evaluate(node.value as Node, environment), environment);
        return made(null);
      case 'If': {
        const isTrue = this.evaluate(node.test, environment).__bool__().value;
        return this.#block(isTrue ? node.body : node.alternate, environment);
      }
      case 'With': {
        const scope = scopeIn(environment);
        for (const { target, value } of node.args ?? [])
          this.#assign(target as Node, this.evaluate(value as Node, environment), scope);
        return this.#block(node.body, scope);
      }
      case 'Scope':
        return this.#block(node.body, scopeIn(environment));
      case 'For':
        return this.#loop(node, environment, itemsOf(this.evaluate(node.iterable, environment)), 1);
      case 'Macro':
        return this.#macro(node, environment);
      case 'CallExpression': {
        const { callee, args = [] } = node;
        const loop = callee?.value === 'loop' ? this.#again.get(this.evaluate(callee, environment)) : undefined;
        if (loop === undefined) return super.evaluate(node, environment);
        if (args.length !== 1) throw new Error('loop: it takes what to loop over');
        const items: Node = { type: 'Items', expression: args[0] as Node };
        return loop(this.evaluate(items, environment));
      }
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

  #block(body: readonly Node[] = [], environment: Environment): Value {
    let text = '';
    for (const each of body) {
      try {
        const value = this.evaluate(each, environment);
        if (isText(value)) text += wordsOf(value);
      } catch (thrown) {
        // What a filter or a variable would have got is lost.
        this.#printed = text + (/^(If|With)$/.test(each.type) ? this.#printed : '');
        throw thrown;
      }
    }
    return made(text);
  }

  /** Sets a name, an attribute of a namespace, or each of several to an item. */
  #assign(target: Node, value: Value, environment: Environment): void {
    if (target.type === 'Identifier') environment.setVariable(target.value as string, value);
    else if (target.type === 'MemberExpression') {
      const space = this.evaluate(target.object, environment);
      if (space.type !== 'NamespaceValue') throw new Error(`${nameOf(space)} has no attributes to set`);
      entriesOf(space).set(target.property?.value, value);
    } else {
      const [targets, items] = [target.value as Node[], listOf(value)];
      if (targets.length !== items.length) throw new Error(`${items.length} values are not ${targets.length}`);
      for (const [i, each] of targets.entries()) this.#assign(each, items[i] as Value, environment);
    }
  }

  #loop(node: Node, environment: Environment, items: readonly Value[], depth: number): Value {
    const scoped = (item: Value) => {
      const scope = scopeIn(environment);
      this.#assign(node.target as Node, item, scope);
      return scope;
    };
    const { test } = node;
    const kept = test ? items.filter((item) => this.evaluate(test, scoped(item)).__bool__().value) : items;
    const { length } = kept;
    let [text, at, last] = ['', 0, undefined as Value | undefined];
    let isWhole = false;
    const changed = (...given: Value[]) => {
      const [before, now] = [last, listOfValues(given)];
      last = now;
      return made(before === undefined || !equal(before, now));
    };
    const loop = dictionaryOf([
      ['length', integer(length)],
      ['depth', integer(depth)],
      ['depth0', integer(depth - 1)],
      ['cycle', functionOf((...given) => given[at % given.length] ?? nothing)],
      ['changed', functionOf(changed)],
    ]);
    if (node.isRecursive) this.#again.set(loop, (given) => this.#loop(node, environment, itemsOf(given), depth + 1));
    const entries = entriesOf(loop);
    for (const item of kept) {
      entries.set('index', integer(at + 1)).set('index0', integer(at));
      entries.set('revindex', integer(length - at)).set('revindex0', integer(length - at - 1));
      entries.set('first', at === 0 ? yes : no).set('last', at === length - 1 ? yes : no);
      entries.set('previtem', kept[at - 1] ?? nothing).set('nextitem', kept[at + 1] ?? nothing);
      const scope = scoped(item);
      scope.setVariable('loop', loop);
      try {
        text += wordsOf(this.#block(node.body, scope));
        isWhole = true;
      } catch (thrown) {
        if (thrown !== this.#control) throw thrown;
        text += this.#printed;
        if (this.#isBreak) break;
      }
      at++;
    }
    // As in Jinja, also after turns of which each was ended.
    return isWhole ? made(text) : made(text + wordsOf(this.#block(node.alternate, scopeIn(environment))));
  }
}
