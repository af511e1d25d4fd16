// Third-party files that the package contains in part: Emscripten's glue, and the Jinja interpreter without what is not called
// here: its formatter of templates (two of its nine kilobytes, compressed), and what is done by python_template.ts itself.

import { readFileSync } from 'node:fs';

import { SetupError } from '../toolchain/progress.js';
import { glueFiles, glueText } from './glue.js';

const jinjaFile = /\/@huggingface\/jinja\/dist\/index\.js$/;
/**
 * The parts that are not called, in their order: each from its first line up to another, and what stands in its place. Filters
 * and methods are python_filters.ts', attributes, except for slices, and literals with items python_template.ts'; white space
 * around tags is template_spaces.ts'.
 */
const unused: readonly (readonly [from: string, to: string, instead?: string])[] = [
  ['  if (options.lstrip_blocks) {\n', '}\nfunction tokenize(', '  return template;\n'],
  ['  const stripTrailingWhitespace = () => {\n', '  const skipLeadingWhitespace = '],
  ['        const stripBefore = ', '        let comment = "";\n'],
  ['        const stripAfter = ', '        tokens.push(new Token(comment, '],
  ['        if (stripAfter) {\n', '      consumeWhile(isWhitespace);\n', '        continue;\n      }\n'],
  [
    '      if (src.slice(cursorPosition, cursorPosition + 3) === "-%}") {\n',
    '      if (src.slice(cursorPosition, cursorPosition + 3) === "-}}"',
  ],
  ['var EMPTY_BUILTINS = ', 'var RuntimeValue = '],
  ['  /**\n   * A collection of built-in functions', '  /**\n   * Creates a new RuntimeValue.'],
  ['  _builtins;\n', '};\nvar BooleanValue = '],
  ['var NON_ASCII_CHARS = ', 'var ObjectValue = '],
  ['  _builtins;\n', '  /**\n   * NOTE: necessary to override'],
  ['  get builtins() {\n', '};\nvar KeywordArgumentsValue = '],
  ['  toString() {\n    return toJSON(', '};\nvar ArrayValue = '],
  ['  _builtins;\n', '  /**\n   * NOTE: necessary to override'],
  ['  toString() {\n    return toJSON(', '};\nvar TupleValue = '],
  ['  ["number", ', '  ["integer", '],
  ['  ["iterable", ', '  ["mapping", '],
  ['  [\n    "sequence",\n', '  ["none", '],
  ['  ["equalto", ', ']));\n'],
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
  ['  applyFilter(', '  /**\n   * Evaluates expressions following the test operation type.'],
  ['    if (fn.type !== "FunctionValue") {\n', '    return fn.value(args, environment);\n'],
  ['      } else {\n        property = ', '  }\n  evaluateSet(', '}}'],
  ['    if (!(iterable instanceof ArrayValue || iterable', '    const items = [];\n'],
  ['        if (err instanceof ContinueControl) {\n', '        if (err instanceof BreakControl) {\n'],
  ['  evaluateFilterStatement(', '  evaluate('],
  ['      case "Continue":\n', '      case "IntegerLiteral":\n'],
  ['      case "TupleLiteral":\n', '      case "Identifier":\n'],
  ['      case "FilterExpression":\n', '      case "TestExpression":\n'],
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
