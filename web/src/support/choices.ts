// Validates what is one of a few choices.

import { ClearformerError, textOf } from './error.js';

/** Throws `invalid_argument` for a value that is not among the choices. */
export function checkChoice(option: string, value: unknown, choices: readonly unknown[]): void {
  if (choices.includes(value)) return;
  const known = choices.map((choice) => `'${textOf(choice)}'`).join(', ');
  throw new ClearformerError('invalid_argument', `${option} must be one of ${known}, not ${textOf(value)}`, {
    option,
    expected: choices.map(String),
  });
}
