// The options of generate() as data for the command line: name, type and description of every member of
// GenerationOptions that can be given as an argument. The interface is the only list of them.

import { readFileSync } from 'node:fs';

import { SetupError } from '../toolchain/progress.js';
import { inProject } from './fresh.js';

const file = 'web/src/models/generation_options.ts';
// Types that cannot be given as an argument, and options that request non-text outputs or choose parts of them. Token ids
// are given as numbers and lists of them, not as bigints and `TypedIds`.
const notWords =
  /\b(NamesFilter|PreTrainedTokenizer|AbortSignal|Streamer|StoppingCriterion|StoppingCriteria|ScoresProcessor)\b/;
const notText = /^(output_|select$)/;

/** An option as shown by the command line. */
export interface OptionDescription {
  name: string;
  type: string;
  description: string;
  group: string;
}

const plain = (comment: string): string =>
  comment
    .replace(/^\s*\/\*\*|\*\/\s*$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .replace(/`/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/**
 * The members of the interface, in order. A `// Sentence.` begins a group; a member without a comment shares the last
 * one.
 */
export function generationOptions(): OptionDescription[] {
  const body = /export interface GenerationOptions [^{]*\{\n([\s\S]*?)\n\}/.exec(
    readFileSync(inProject(file), 'utf8'),
  )?.[1];
  const parts = /\s*(?:\/\/ ([^\n.]*)[^\n]*|(\/\*\*[\s\S]*?\*\/)|(\w+)\?: ([^;]*);)/gy;
  const options: OptionDescription[] = [];
  let [group, description, read] = ['', '', 0];
  for (const [whole, section, comment, name = '', type = ''] of (body ?? '').matchAll(parts)) {
    read += whole.length;
    if (section !== undefined) [group, description] = [section, ''];
    else if (comment !== undefined) description = plain(comment);
    else {
      const words = type.replace(/\s+/g, ' ').replace(/ \| (TypedIds|bigint|undefined)\b/g, '');
      options.push({ name, type: words, description, group });
    }
  }
  if (body === undefined || read !== body.trimEnd().length) {
    throw new SetupError(`${file}: the members of GenerationOptions are not in the form that scripts/build reads.`);
  }
  return options.filter(({ name, type }) => !notWords.test(type) && !notText.test(name));
}
