// The letters that the sorting model reads: six of A, B and C.

export const alphabet = 'ABC';
export const letterCount = 6;

/** What of a typed text the model knows, at most six letters of it. */
export function lettersOf(text: string): string {
  return [...text.toUpperCase()]
    .filter((letter) => alphabet.includes(letter))
    .slice(0, letterCount)
    .join('');
}

/** Six letters by chance. */
export function shuffled(): string {
  const numbers = crypto.getRandomValues(new Uint32Array(letterCount));
  return Array.from(numbers, (number) => alphabet[number % alphabet.length]).join('');
}

/** The letters in order: what the model should write. */
export function sorted(letters: string): string {
  return [...letters].sort().join('');
}
