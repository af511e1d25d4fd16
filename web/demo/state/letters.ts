// The letters that the sorting model reads: six of A, B and C.

export const kLetters = 'ABC';
export const kCount = 6;

/** What of a typed text the model knows, at most six letters of it. */
export function lettersOf(text: string): string {
  return [...text.toUpperCase()]
    .filter((letter) => kLetters.includes(letter))
    .slice(0, kCount)
    .join('');
}

/** Six letters by chance. */
export function shuffled(): string {
  const numbers = crypto.getRandomValues(new Uint32Array(kCount));
  return Array.from(numbers, (number) => kLetters[number % kLetters.length]).join('');
}

/** The letters in order: what the model should write. */
export function sorted(letters: string): string {
  return [...letters].sort().join('');
}
