// The interface of patterns.

/** Finds all its matches in a text, like a global RegExp. */
export interface Pattern {
  [Symbol.matchAll](text: string): Iterable<{ 0: string; index: number }>;
  [Symbol.replace](text: string, content: (match: string) => string): string;
}
