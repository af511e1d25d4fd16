// Words of options as values; a word that is none is wrong usage.

import { InvalidArgumentError } from 'commander';

/** A whole number from 1 up. */
export function positive(word: string): number {
  if (/^[1-9]\d*$/.test(word) && Number.isSafeInteger(Number(word))) return Number(word);
  throw new InvalidArgumentError('It must be a whole number from 1 up.');
}

/** A number from 0 up. */
export function notNegative(word: string): number {
  if (word.trim() !== '' && Number(word) >= 0 && Number.isFinite(Number(word))) return Number(word);
  throw new InvalidArgumentError('It must be a number from 0 up.');
}

/** For an option that can be given several times. */
export function collected(word: string, before: readonly string[] = []): string[] {
  return [...before, word];
}
