// The inputs of commands: texts and files as arguments, and standard input for -.

import { Failure, UsageError } from './failures.js';

/** All of standard input. */
export async function standardInput(): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of process.stdin) parts.push(part as Uint8Array);
  return new Uint8Array(Buffer.concat(parts));
}

/** Standard input as text, piece by piece as it comes. */
async function* standardPieces(): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decoded = (part?: Uint8Array) => {
    try {
      return decoder.decode(part, { stream: part !== undefined });
    } catch {
      throw new Failure('standard input is no text in UTF-8');
    }
  };
  for await (const part of process.stdin) yield decoded(part as Uint8Array);
  yield decoded();
}

/** The lines of standard input as they come. */
export async function* standardLines(): AsyncGenerator<string> {
  let open = '';
  for await (const piece of standardPieces()) {
    const [first = '', ...others] = piece.split('\n');
    open += first;
    for (const other of others) {
      yield open.replace(/\r$/, '');
      open = other;
    }
  }
  if (open !== '') yield open;
}

/** Throws if - is among the words more than once. */
export function checkInputs(words: readonly string[]): void {
  if (words.filter((word) => word === '-').length > 1) throw new UsageError('- can be given once');
}

/** One text: the argument, or all of standard input, without the last line end, for -. */
export async function textOf(word: string): Promise<string> {
  if (word !== '-') return word;
  let text = '';
  for await (const piece of standardPieces()) text += piece;
  return text.replace(/\r?\n$/, '');
}

/** Texts: the arguments, with - replaced by the lines of standard input. */
export async function textsOf(words: readonly string[]): Promise<string[]> {
  checkInputs(words);
  const texts: string[] = [];
  for (const word of words) {
    if (word !== '-') texts.push(word);
    else for await (const line of standardLines()) texts.push(line);
  }
  if (words.length > 0 && texts.length === 0) throw new Failure('standard input is empty');
  return texts;
}
