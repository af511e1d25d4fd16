// Parses the expressions of Jinja templates: the grammar is Python's Jinja 2.

import { made } from './python_values.js';
import { faultAt, type Token, tokensOf } from './template_lexer.js';
import { binary, type Node, name, unary } from './template_nodes.js';

/** What parses itself. */
export type Parse = () => Node;

const literals: Readonly<Record<string, unknown>> = {
  ...{ true: true, True: true, false: false, False: false, none: null, None: null },
};
const comparing = ['==', '!=', '<', '<=', '>', '>='];
const deepest = 200; // as many parentheses does Python's own parser take

/** Parses the expressions of a template. */
export class ExpressionParser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(private readonly source: string) {
    this.#tokens = tokensOf(source);
  }

  protected get token(): Token {
    return this.#tokens[this.#at] as Token;
  }

  protected next(): Token {
    const token = this.token;
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  /** Whether this token, or one after it, is this mark or this name. */
  protected is(value: string, ahead = 0): boolean {
    const token = this.#tokens[this.#at + ahead];
    return token?.value === value && /^(name|mark)$/.test(token.kind);
  }

  /** Whether the next token is one of these, which is passed over. */
  protected skips(...values: string[]): string | undefined {
    const found = values.find((value) => this.is(value));
    if (found !== undefined) this.#at++;
    return found;
  }

  protected fail(why: string): never {
    const { kind, at } = this.token;
    throw faultAt(this.source, at, kind === 'end' ? 'it ends within a tag or a block' : why);
  }

  /** Of what may be within itself. */
  protected inner(parse: Parse): Node {
    if (++this.#depth > deepest) this.fail(`it is nested more than ${deepest} times`);
    const found = parse();
    this.#depth--;
    return found;
  }

  protected expect(value: string): void {
    if (!this.skips(value)) this.fail(`${JSON.stringify(this.token.value)} in place of ${value}`);
  }

  protected name(): string {
    return this.token.kind === 'name' ? this.next().value : this.fail(`${JSON.stringify(this.token.value)} is no name`);
  }

  /** What stands between commas, up to the end, which is passed over; there may be a comma more. */
  protected list<T>(end: string, one: () => T): T[] {
    const all: T[] = [];
    while (!this.skips(end)) {
      if (all.length > 0) {
        this.expect(',');
        if (this.skips(end)) break;
      }
      all.push(one());
    }
    return all;
  }

  /** An expression, or several with commas. */
  protected tuple(one: Parse = () => this.expression(), mayBeEmpty = false): Node {
    const ends = ['%}', '}}', ')'];
    const items: Node[] = [];
    let isTuple = mayBeEmpty && this.is(')');
    while (!ends.some((each) => this.is(each))) {
      items.push(one());
      if (!this.skips(',')) break;
      isTuple = true;
    }
    if (isTuple) return { type: 'TupleLiteral', value: items };
    return items[0] ?? this.fail('an expression is missing');
  }

  protected expression(): Node {
    return this.inner(() => this.#conditional());
  }

  #conditional(): Node {
    let found = this.or();
    while (this.skips('if')) {
      const test = this.or();
      found = { type: 'Ternary', test, left: found, right: this.skips('else') ? this.expression() : undefined };
    }
    return found;
  }

  /** Operands with operators of one level between them. */
  #level(operators: readonly string[], operand: Parse): Node {
    let left = operand();
    for (let found = this.skips(...operators); found; found = this.skips(...operators))
      left = binary(found, left, operand());
    return left;
  }

  protected or(): Node {
    return this.#level(['or'], () => this.#level(['and'], () => this.#not()));
  }

  #not(): Node {
    return this.skips('not')
      ? unary(
          'not',
          this.inner(() => this.#not()),
        )
      : this.#comparison();
  }

  #comparison(): Node {
    const operand = this.#sum();
    const comparisons: [string, Node][] = [];
    for (;;) {
      const isNot = this.is('not') && this.is('in', 1);
      if (isNot) this.next();
      const operator = this.skips('in', ...comparing);
      if (operator === undefined) break;
      comparisons.push([isNot ? 'not in' : operator, this.#sum()]);
    }
    const [first] = comparisons;
    if (first === undefined) return operand;
    return comparisons.length === 1
      ? binary(first[0], operand, first[1])
      : { type: 'Comparison', operand, comparisons };
  }

  #sum(): Node {
    const product = () => this.#level(['*', '/', '//', '%'], () => this.#level(['**'], () => this.#unary()));
    return this.#level(['+', '-'], () => this.#level(['~'], product));
  }

  #unary(isFiltered = true): Node {
    const sign = this.skips('-', '+');
    const operand = this.#members(
      sign
        ? unary(
            sign,
            this.inner(() => this.#unary(false)),
          )
        : this.primary(),
    );
    return isFiltered ? this.#tested(operand) : operand;
  }

  protected primary(): Node {
    const { kind, value } = this.token;
    if (this.skips('(')) {
      const inner = this.tuple(undefined, true);
      this.expect(')');
      return inner;
    }
    if (this.skips('[')) {
      return { type: 'ArrayLiteral', value: this.list(']', () => this.expression()) };
    }
    if (this.skips('{')) {
      const entry = (): [Node, Node] => {
        const key = this.expression();
        this.expect(':');
        return [key, this.expression()];
      };
      return { type: 'ObjectLiteral', value: new Map(this.list('}', entry)) };
    }
    if (kind === 'mark' || kind === 'end') this.fail(`an expression is missing before ${value}`);
    this.next();
    if (kind === 'string') {
      const more = this.token.kind === 'string' ? (this.primary().value as string) : '';
      return { type: 'StringLiteral', value: value + more };
    }
    if (kind === 'name')
      return Object.hasOwn(literals, value) ? { type: 'Held', value: made(literals[value]) } : name(value);
    const number = Number(value.replaceAll('_', ''));
    return { type: kind === 'float' ? 'FloatLiteral' : 'IntegerLiteral', value: number };
  }

  /** Attributes, items and calls behind an expression. */
  #members(operand: Node): Node {
    let object = operand;
    for (;;) {
      if (this.skips('.')) {
        const { kind, value } = this.token;
        if (kind !== 'name' && kind !== 'integer') this.fail(`${JSON.stringify(value)} is no name`);
        const property = kind === 'name' ? name(this.name()) : this.primary();
        object = { type: 'MemberExpression', object, property, computed: false };
      } else if (this.skips('[')) {
        const parts = this.list(']', () => this.#item());
        const property = parts.length === 1 ? (parts[0] as Node) : { type: 'TupleLiteral', value: parts };
        object = { type: 'MemberExpression', object, property, computed: true };
      } else if (this.is('(')) {
        object = { type: 'CallExpression', callee: object, args: this.#arguments() };
      } else return object;
    }
  }

  /** What stands in brackets: a place, or a slice. */
  #item(): Node {
    const place = () => ([']', ':', ','].some((each) => this.is(each)) ? undefined : this.expression());
    const start = place();
    if (!this.skips(':')) return start ?? this.fail('an expression is missing');
    const stop = place();
    const step = this.skips(':') ? place() : undefined;
    return { type: 'SliceExpression', start, stop, step };
  }

  #arguments(): Node[] {
    this.expect('(');
    return this.list(')', () => {
      const spread = this.skips('**', '*');
      if (spread) {
        const type = spread === '*' ? 'SpreadExpression' : 'KeywordSpreadExpression';
        return { type, argument: this.expression() };
      }
      if (this.token.kind !== 'name' || !this.is('=', 1)) return this.expression();
      const key = this.name();
      this.expect('=');
      return { type: 'KeywordArgumentExpression', key, argument: this.expression() };
    });
  }

  /** Filters, tests and calls behind an operand. */
  #tested(operand: Node): Node {
    let found = operand;
    for (;;) {
      if (this.is('|')) found = this.filters(found);
      else if (this.skips('is')) found = this.#test(found);
      else if (this.is('(')) found = { type: 'CallExpression', callee: found, args: this.#arguments() };
      else return found;
    }
  }

  protected filters(operand: Node): Node {
    let found = operand;
    while (this.skips('|')) found = this.filter(found);
    return found;
  }

  protected filter(operand: Node): Node {
    const filter = name(this.name());
    filter.args = this.is('(') ? this.#arguments() : [];
    return { type: 'FilterExpression', operand, filter };
  }

  #test(operand: Node): Node {
    const negate = this.skips('not') !== undefined;
    const test = name(this.name());
    if (this.is('(')) test.args = this.#arguments();
    else {
      const { kind, value } = this.token;
      const isOperand = !/^(mark|text|end)$/.test(kind) || /^[[{]$/.test(value);
      if (this.is('is')) this.fail('tests do not follow each other');
      const hasOperand = isOperand && !['else', 'or', 'and'].some((word) => this.is(word));
      test.args = hasOperand ? [this.#members(this.primary())] : [];
    }
    return { type: 'TestExpression', operand, negate, test };
  }
}
