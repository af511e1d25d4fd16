// The nodes of a parsed template.

import type { Interpreter } from '@huggingface/jinja';

export type Statement = NonNullable<Parameters<Interpreter['evaluate']>[0]>;

/** A statement or an expression with the members that are read here. */
export interface Node extends Statement {
  body?: Node[];
  alternate?: Node[];
  iterable?: Node;
  /** What is assigned to: a name, an attribute of a namespace, or a tuple of names. */
  target?: Node;
  isRecursive?: boolean;
  operator?: { value: string };
  left?: Node;
  right?: Node;
  operand?: Node;
  /** Comparisons of the operand with the next one, and of each with the one that follows. */
  comparisons?: (readonly [operator: string, with_: Node])[];
  filter?: Node;
  callee?: Node;
  args?: Node[];
  value?: unknown;
  expression?: Node;
  object?: Node;
  property?: Node;
  computed?: boolean;
  test?: Node | undefined;
  negate?: boolean;
  name?: Node;
  key?: Node;
  argument?: Node;
}
