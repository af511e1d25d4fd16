// The inputs of commands: texts and files as arguments, and standard input for -.

import { Failure, UsageError } from './failures.js';

/** All of standard input. */
export async function standardInput(): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of process.stdin) parts.push(part as Uint8Array);
  return new Uint8Array(Buffer.concat(parts));
}

/** Standard input as text, without the last line end. */
async function standardText(): Promise<string> {
  const bytes = await standardInput();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw new Failure('standard input is no text in UTF-8');
  }
}

/** One text: the argument, or all of standard input for -. */
export function textOf(word: string): Promise<string> {
  return word === '-' ? standardText() : Promise.resolve(word);
}

/** Texts: the arguments, with - replaced by the lines of standard input. */
export async function textsOf(words: readonly string[]): Promise<string[]> {
  if (words.filter((word) => word === '-').length > 1) throw new UsageError('- can be given once');
  const parts = await Promise.all(
    words.map(async (word) => {
      if (word !== '-') return [word];
      const text = await standardText();
      return text === '' ? [] : text.split(/\r?\n/);
    }),
  );
  const texts = parts.flat();
  if (words.length > 0 && texts.length === 0) throw new Failure('standard input is empty');
  return texts;
}
