// Third-party files that the package contains in part: Emscripten's glue, and the Jinja interpreter without what is not called
// here: its formatter of templates (two of its nine kilobytes, compressed), and what is done by python_template.ts and
// python_expressions.ts themselves. Its parser is not called either; without it bundlers leave it out.

import { readFileSync } from 'node:fs';

import { SetupError } from '../toolchain/progress.js';
import { glueFiles, glueText } from './glue.js';

const jinjaFile = /\/@huggingface\/jinja\/dist\/index\.js$/;
/**
 * The parts that are not called, in their order: each from its first line up to another, and what stands in its place. Filters
 * and methods are python_filters.ts', attributes, except for slices, tests and literals with items python_expressions.ts',
 * loops, conditions and assignments python_template.ts'.
 */
const unused: readonly (readonly [from: string, to: string, instead?: string])[] = [
  ['var EMPTY_BUILTINS = ', 'var RuntimeValue = '],
  ['  /**\n   * A collection of built-in functions', '  /**\n   * Creates a new RuntimeValue.'],
  ['  _builtins;\n', '};\nvar BooleanValue = '],
  ['var NON_ASCII_CHARS = ', 'var ObjectValue = '],
  ['  _builtins;\n', '  /**\n   * NOTE: necessary to override'],
  ['  get builtins() {\n', '};\nvar KeywordArgumentsValue = '],
  ['  toString() {\n    return toJSON(', '};\nvar ArrayValue = '],
  ['  _builtins;\n', '  /**\n   * NOTE: necessary to override'],
  ['  toString() {\n    return toJSON(', '};\nvar TupleValue = '],
  ['  [\n    "odd",\n', '  ["false", '],
  ['  ["number", ', '  ["integer", '],
  ['  ["iterable", ', '  ["mapping", '],
  ['  [\n    "sequence",\n', '  ["none", '],
  ['  ["equalto", ', ']));\n'],
  ['  const declareName = ', '  return accessed;\n'],
  ['    switch (node.operator.value) {\n      case "==":\n', '    if (left instanceof UndefinedValue ||'],
  ['    } else if (node.operator.value === "~") {\n', '    } else if (node.operator.value === "**"'],
  ['    } else if (right instanceof ArrayValue) {\n', '    }\n    if (left instanceof StringValue ||'],
  [
    '    if (left instanceof StringValue || right',
    '    if (left instanceof StringValue && right instanceof StringValue',
  ],
  [
    '    if (left instanceof StringValue && right instanceof ObjectValue',
    '    throw new SyntaxError(`Unknown operator',
  ],
  ['  applyFilter(', '  /**\n   * Evaluates expressions following the select operation type.'],
  ['    if (fn.type !== "FunctionValue") {\n', '    return fn.value(args, environment);\n'],
  ['      } else {\n        property = ', '  }\n  evaluateSet(', '}}'],
  ['  evaluateSet(', '  bindMacroArguments('],
  ['  evaluateFilterStatement(', '  evaluate('],
  ['      case "Set":\n', '      case "Macro":\n'],
  ['      case "Break":\n', '      case "IntegerLiteral":\n'],
  ['      case "TupleLiteral":\n', '      case "Identifier":\n'],
  ['      case "FilterExpression":\n', '      case "SelectExpression":\n'],
  ['  format(options) {\n', '};\nexport {'],
];

export const filesInPart = new RegExp(`${glueFiles.source}|${jinjaFile.source}`);

/** The part of the file that the package contains. */
export function textInPart(path: string): string {
  if (glueFiles.test(path)) return glueText(path);
  const text = readFileSync(path, 'utf8');
  let [kept, read] = ['', 0];
  for (const [from, to, instead = ''] of unused) {
    const start = text.indexOf(from, read);
    const end = text.indexOf(to, start);
    if (start < 0 || end < 0)
      throw new SetupError(`${path} has changed: scripts/build/part_of.ts does not find ${from}.`);
    kept += text.slice(read, start) + instead;
    read = end;
  }
  return kept + text.slice(read);
}
