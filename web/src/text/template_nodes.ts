// The nodes of a parsed template, and marks at those whose values are printed or looped over.

import type { Interpreter } from '@huggingface/jinja';

export type Statement = NonNullable<Parameters<Interpreter['evaluate']>[0]>;

/** A statement or an expression with the members that are read here. */
export interface Node extends Statement {
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
  object?: Node;
  property?: Node;
  computed?: boolean;
  test?: Node;
  negate?: boolean;
  name?: Node;
  key?: Node;
  argument?: Node;
}

const marked = (type: 'Print' | 'Items', expression: Node): Node => ({ type, expression });

const statements = new Set(
  'Program If For Block Turn Break Continue Set Macro Comment FilterStatement CallStatement StringLiteral'.split(' '),
);
const blocks = ['body', 'alternate', 'defaultBlock'] as const;
/** Statements whose bodies have variables of their own: those of a loop each turn. */
const scopes: Readonly<Record<string, string>> = { For: 'Turn', Set: 'Scope' };

/** Marks where expressions are printed and looped over, in place; to be called once with a parsed template. */
export function markPrints(program: Statement): void {
  const node = program as Node;
  for (const block of blocks) {
    node[block]?.forEach(markPrints);
    if (node[block])
      node[block] = node[block].map((each) => (statements.has(each.type) ? each : marked('Print', each)));
  }
  const scope = scopes[node.type];
  if (scope && node.body?.length) node.body = [{ type: scope, body: node.body }];
  if (node.type === 'If')
    for (const block of blocks) if (node[block]) node[block] = [{ type: 'Block', body: node[block] }];
  const { iterable } = node;
  if (iterable?.lhs) iterable.lhs = marked('Items', iterable.lhs);
  else if (iterable) node.iterable = marked('Items', iterable);
}
