// Jinja's statements as Python runs them.

import { listOf } from './python_builtins.js';
import { PythonExpressions } from './python_expressions.js';
import {
  callable,
  dictionaryOf,
  entriesOf,
  equal,
  functionOf,
  inOrder,
  integer,
  isText,
  isTrue,
  itemsOf,
  listOfValues,
  made,
  nameOf,
  type Run,
  Scope,
  type Value,
  wordsOf,
} from './python_values.js';
import type { Node } from './template_nodes.js';

const [yes, no, nothing] = [made(true), made(false), made(undefined)];

/** Runs a parsed program. */
export class PythonInterpreter extends PythonExpressions {
  /** What the `loop` of recursive loops calls. */
  readonly #again = new WeakMap<Value, (items: Value) => Value>();
  /** Ends a turn of a loop, or the loop. */
  readonly #control = new Error('break and continue are for loops');
  #isBreak = false;
  /** What a block has printed that an error has ended, for the loop that goes on. */
  #printed = '';

  override evaluate(node: Node | undefined, outer: Scope): Value {
    switch (node?.type) {
      case 'Program':
        return this.#block(node.body, outer);
      case 'Break':
      case 'Continue':
        this.#isBreak = node.type === 'Break';
        this.#printed = '';
        throw this.#control;
      case 'Set':
        this.#assign(node.target as Node, this.evaluate(node.value as Node, outer), outer);
        return made(null);
      case 'If': {
        const isMet = isTrue(this.evaluate(node.test, outer));
        return this.#block(isMet ? node.body : node.alternate, outer);
      }
      case 'With': {
        const scope = new Scope(outer);
        for (const { target, value } of node.args ?? [])
          this.#assign(target as Node, this.evaluate(value as Node, outer), scope);
        return this.#block(node.body, scope);
      }
      case 'Scope':
        return this.#block(node.body, new Scope(outer));
      case 'For':
        return this.#loop(node, outer, itemsOf(this.evaluate(node.iterable, outer)), 1);
      case 'Macro':
        outer.set(String(node.name), this.#macro(node, outer));
        return made(null);
      case 'CallStatement': {
        const { callee, args = [] } = node.operand as Node;
        const called = this.evaluate(callee, outer);
        if (called.type !== 'function') throw new Error(`call: ${nameOf(called)} is no function`);
        return (called.value as Run)(...this.arguments(args, outer), this.#macro(node, outer));
      }
      case 'CallExpression': {
        const { callee, args = [] } = node;
        const loop = callee?.value === 'loop' ? this.#again.get(this.evaluate(callee, outer)) : undefined;
        if (loop === undefined) return super.evaluate(node, outer);
        if (args.length !== 1) throw new Error('loop: it takes what to loop over');
        const items: Node = { type: 'Items', expression: args[0] as Node };
        return loop(this.evaluate(items, outer));
      }
      default:
        return super.evaluate(node, outer);
    }
  }

  /** A macro, or what a block passes to one: it sees the variables of where it is defined, not of where it is called. */
  #macro({ name = 'caller', args: parameters = [], body }: Node, outer: Scope): Value {
    return callable((given, named, caller) => {
      const scope = new Scope(outer);
      if (caller) scope.set('caller', caller);
      const keys = parameters.map(({ key = '' }) => key);
      const values = inOrder(name, keys, given, named);
      for (const [i, { key = '' }] of parameters.entries()) scope.set(key, values[i] ?? nothing);
      for (const [i, { key = '', argument }] of parameters.entries())
        if (argument && !values[i]) scope.set(key, this.evaluate(argument, scope));
      return this.#block(body, scope);
    });
  }

  #block(body: readonly Node[] = [], outer: Scope): Value {
    let text = '';
    for (const each of body) {
      try {
        const value = this.evaluate(each, outer);
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
  #assign(target: Node, value: Value, outer: Scope): void {
    if (target.type === 'Identifier') outer.set(target.value as string, value);
    else if (target.type === 'MemberExpression') {
      const space = this.evaluate(target.object, outer);
      if (space.type !== 'namespace') throw new Error(`${nameOf(space)} has no attributes to set`);
      entriesOf(space).set(target.property?.value, value);
    } else {
      const [targets, items] = [target.value as Node[], listOf(value)];
      if (targets.length !== items.length) throw new Error(`${items.length} values are not ${targets.length}`);
      for (const [i, each] of targets.entries()) this.#assign(each, items[i] as Value, outer);
    }
  }

  #loop(node: Node, outer: Scope, items: readonly Value[], depth: number): Value {
    const scoped = (item: Value) => {
      const scope = new Scope(outer);
      this.#assign(node.target as Node, item, scope);
      return scope;
    };
    const { test } = node;
    const kept = test ? items.filter((item) => isTrue(this.evaluate(test, scoped(item)))) : items;
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
      ['cycle', functionOf('cycle', 'any', (...given) => given[at % given.length] ?? nothing)],
      ['changed', functionOf('changed', 'any', changed)],
    ]);
    if (node.isRecursive) this.#again.set(loop, (given) => this.#loop(node, outer, itemsOf(given), depth + 1));
    const entries = entriesOf(loop);
    for (const item of kept) {
      entries.set('index', integer(at + 1)).set('index0', integer(at));
      entries.set('revindex', integer(length - at)).set('revindex0', integer(length - at - 1));
      entries.set('first', at === 0 ? yes : no).set('last', at === length - 1 ? yes : no);
      entries.set('previtem', kept[at - 1] ?? nothing).set('nextitem', kept[at + 1] ?? nothing);
      const scope = scoped(item);
      scope.set('loop', loop);
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
    return isWhole ? made(text) : made(text + wordsOf(this.#block(node.alternate, new Scope(outer))));
  }
}
