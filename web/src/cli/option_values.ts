// Parsers of option values; an invalid value is a usage error.

import { InvalidArgumentError } from 'commander';

/** An integer >= 1. */
export function positive(word: string): number {
  if (/^[1-9]\d*$/.test(word) && Number.isSafeInteger(Number(word))) return Number(word);
  throw new InvalidArgumentError('It must be a whole number from 1 up.');
}

/** A number >= 0. */
export function notNegative(word: string): number {
  if (word.trim() !== '' && Number(word) >= 0 && Number.isFinite(Number(word))) return Number(word);
  throw new InvalidArgumentError('It must be a number from 0 up.');
}

/** Collects the values of an option that can be repeated. */
export function collected(word: string, before: readonly string[] = []): string[] {
  return [...before, word];
}
