// The nodes of a parsed template.

/** A statement or an expression; which members it has depends on its type. */
export interface Node {
  type: string;
  body?: Node[];
  alternate?: Node[];
  iterable?: Node;
  /** What is assigned to: a name, an attribute of a namespace, or a tuple of names. */
  target?: Node;
  isRecursive?: boolean;
  operator?: string;
  left?: Node;
  right?: Node | undefined;
  operand?: Node;
  /** Comparisons of the operand with the next one, and of each with the one that follows. */
  comparisons?: (readonly [operator: string, with_: Node])[];
  filter?: Node;
  callee?: Node;
  /** Arguments, of a macro its parameters. */
  args?: Node[];
  value?: unknown;
  expression?: Node;
  object?: Node;
  property?: Node;
  computed?: boolean;
  test?: Node | undefined;
  negate?: boolean;
  name?: string;
  key?: string;
  argument?: Node;
  start?: Node | undefined;
  stop?: Node | undefined;
  step?: Node | undefined;
}

export const name = (value: string): Node => ({ type: 'Identifier', value });
export const binary = (operator: string, left: Node, right: Node): Node => ({
  type: 'BinaryExpression',
  operator,
  left,
  right,
});
export const unary = (operator: string, operand: Node): Node => ({ type: 'UnaryExpression', operator, operand });
export const printed = (expression: Node): Node => ({ type: 'Print', expression });

/** Whether it can be assigned to. */
export function isTarget({ type, value }: Node): boolean {
  return /^(Identifier|Member)/.test(type) || (type === 'TupleLiteral' && (value as Node[]).every(isTarget));
}
