// Third-party files that the package contains in part: Emscripten's glue, and the Jinja interpreter without its formatter of
// templates (two of its nine kilobytes, compressed), a method that is not called here.

import { readFileSync } from 'node:fs';

import { SetupError } from '../toolchain/progress.js';
import { glueFiles, glueText } from './glue.js';

const jinjaFile = /\/@huggingface\/jinja\/dist\/index\.js$/;
const formatMethod = /\n {2}format\(options\) \{\n {4}return format\([^\n]*\n {2}\}/;

export const filesInPart = new RegExp(`${glueFiles.source}|${jinjaFile.source}`);

/** The part of the file that the package contains. */
export function textInPart(path: string): string {
  if (glueFiles.test(path)) return glueText(path);
  const text = readFileSync(path, 'utf8');
  if (!formatMethod.test(text))
    throw new SetupError(`${path} has changed: scripts/build/part_of.ts finds no format().`);
  return text.replace(formatMethod, '');
}
