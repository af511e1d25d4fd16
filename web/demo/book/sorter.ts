// The bundled model that sorts letters, and its alphabet.

export const sorter = 'gpt-nano-sort';
export const alphabet = 'ABC';

/** The letters of a text that it reads. */
export const lettersOf = (text: string): string =>
  [...text.toUpperCase()].filter((letter) => alphabet.includes(letter)).join('');
