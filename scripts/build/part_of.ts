// Third-party files that the package contains in part: Emscripten's glue, and the Jinja interpreter without what is not called
// here: its formatter of templates (two of its nine kilobytes, compressed), and what python_template.ts does itself.

import { readFileSync } from 'node:fs';

import { SetupError } from '../toolchain/progress.js';
import { glueFiles, glueText } from './glue.js';

const jinjaFile = /\/@huggingface\/jinja\/dist\/index\.js$/;
/**
 * The parts that are not called, in their order: each from its first line up to another, and what stands in its place. Filters
 * are python_template.ts', and so are some methods of texts, and attributes, except for slices; white space around tags is
 * template_spaces.ts'.
 */
const unused: readonly (readonly [from: string, to: string, instead?: string])[] = [
  ['  if (options.lstrip_blocks) {\n', '}\nfunction tokenize(', '  return template;\n'],
  ['      [\n        "strip",\n', '      [\n        "split",\n'],
  ['    switch (node.operator.value) {\n      case "==":\n', '    if (left instanceof UndefinedValue ||'],
  ['    } else if (node.operator.value === "~") {\n', '    } else if (node.operator.value === "**"'],
  ['    } else if (right instanceof ArrayValue) {\n', '    }\n    if (left instanceof StringValue ||'],
  ['          case "list":\n', '          case "reverse":\n'],
  ['          case "join":\n', '          default:\n'],
  ['          case "trim":\n', '          case "indent":\n'],
  ['          case "int": {\n', '          case "float": {\n'],
  ['          case "int":\n            return new IntegerValue(Math', '          case "float":\n'],
  ['          case "string":\n            return new', '          default:\n'],
  ['          case "length":\n            return new', '          default: {\n'],
  ['          case "int":\n            return new', '          case "float":\n'],
  ['          case "string":\n            return new', '          default:\n'],
  ['      } else if (filterName === "join") {\n', '      } else if (filterName === "int" '],
  ['      } else if (filterName === "default") {\n', '      }\n      if (operand instanceof ArrayValue) {\n'],
  ['          case "selectattr":\n', '        }\n        throw new Error(`Unknown ArrayValue filter'],
  ['      } else {\n        property = ', '  }\n  evaluateSet(', '}}'],
  ['        if (err instanceof ContinueControl) {\n', '        if (err instanceof BreakControl) {\n'],
  ['  evaluateFilterStatement(', '  evaluate('],
  ['      case "Continue":\n', '      case "IntegerLiteral":\n'],
  ['      case "FilterStatement":\n', '      case "TestExpression":\n'],
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
