// Parses Jinja templates with the statements that transformers' templates have. Blocks of what the model says, which transformers
// may mark, are texts with variables of their own.

import { ExpressionParser, type Parse } from './template_expressions.js';
import { isTarget, type Node, name, printed } from './template_nodes.js';

/** The program of a template whose lines end in line feeds; throws for what is none. */
export function parsed(source: string): Node {
  return new Parser(source).program();
}

class Parser extends ExpressionParser {
  program(): Node {
    return { type: 'Program', body: this.#until([]) };
  }

  /** What stands before a statement of one of these names. */
  #until(ends: readonly string[]): Node[] {
    const body: Node[] = [];
    while (this.token.kind !== 'end' || ends.length > 0) {
      if (this.token.kind === 'text') body.push({ type: 'StringLiteral', value: this.next().value });
      else if (this.skips('{{')) {
        body.push(printed(this.tuple()));
        this.expect('}}');
      } else {
        this.expect('{%');
        if (ends.some((end) => this.is(end))) return body;
        body.push(this.#statement());
        this.expect('%}');
      }
    }
    return body;
  }

  /** The body of a statement, up to one of these names: which is passed over. */
  #body(...ends: string[]): Node[] {
    this.skips(':');
    this.expect('%}');
    return this.#until(ends);
  }

  /** A body, to its end. */
  #whole(end: string): Node[] {
    const body = this.#body(end);
    this.expect(end);
    return body;
  }

  #statement(): Node {
    const { value: kind } = this.token;
    if (!Object.hasOwn(this.#statements, kind)) this.fail(`Unknown statement type: ${kind}`);
    this.next();
    return this.inner(this.#statements[kind] as Parse);
  }

  readonly #statements: Readonly<Record<string, Parse>> = {
    break: () => ({ type: 'Break' }),
    continue: () => ({ type: 'Continue' }),
    call: () => {
      const args = this.is('(') ? this.#parameters() : [];
      const operand = this.expression();
      if (operand.type !== 'CallExpression') this.fail('call: it calls nothing');
      return { type: 'CallStatement', operand, args, body: this.#whole('endcall') };
    },
    filter: () => {
      const scope: Node = { type: 'Scope' };
      const filtered = this.filters(this.filter(scope));
      scope.body = this.#whole('endfilter');
      return printed(filtered);
    },
    for: () => {
      const target = this.#target();
      this.expect('in');
      const iterable: Node = { type: 'Items', expression: this.tuple(() => this.or()) };
      const test = this.skips('if') ? this.expression() : undefined;
      const isRecursive = this.skips('recursive') !== undefined;
      const body = this.#body('endfor', 'else');
      const alternate = this.skips('else') ? this.#body('endfor') : [];
      this.expect('endfor');
      return { type: 'For', target, iterable, test, isRecursive, body, alternate };
    },
    generation: () => printed({ type: 'Scope', body: this.#whole('endgeneration') }),
    if: () => {
      const branch = (): Node => ({
        type: 'If',
        test: this.tuple(() => this.or()),
        body: this.#body('elif', 'else', 'endif'),
      });
      const first = branch();
      let last = first;
      while (this.skips('elif')) {
        const next = branch();
        last.alternate = [next];
        last = next;
      }
      if (this.skips('else')) last.alternate = this.#body('endif');
      this.expect('endif');
      return first;
    },
    macro: () => {
      const own = this.name();
      return { type: 'Macro', name: own, args: this.#parameters(), body: this.#whole('endmacro') };
    },
    set: () => {
      const target = this.#target();
      if (this.skips('=')) return { type: 'Set', target, value: this.tuple() };
      const scope: Node = { type: 'Scope' };
      const value = this.filters(scope);
      scope.body = this.#whole('endset');
      return { type: 'Set', target, value };
    },
    with: () => {
      const sets: Node[] = [];
      while (!this.is('%}')) {
        if (sets.length > 0) this.expect(',');
        const target = name(this.name());
        this.expect('=');
        sets.push({ type: 'Set', target, value: this.expression() });
      }
      return { type: 'With', args: sets, body: this.#whole('endwith') };
    },
  };

  /** The parameters of a macro. */
  #parameters(): Node[] {
    this.expect('(');
    return this.list(')', () => {
      const key = this.name();
      return { type: 'Parameter', key, ...(this.skips('=') && { argument: this.expression() }) };
    });
  }

  /** What is assigned to: names, attributes of namespaces and tuples of them. */
  #target(): Node {
    const target = this.tuple(() => {
      const one = this.primary();
      if (one.type !== 'Identifier' || !this.skips('.')) return one;
      return { type: 'MemberExpression', object: one, property: name(this.name()) };
    });
    if (!isTarget(target)) this.fail('only names can be set');
    return target;
  }
}
