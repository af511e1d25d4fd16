// What patterns of every kind can do.

/** What finds all of its places in a text, as a global RegExp does. */
export interface Pattern {
  [Symbol.matchAll](text: string): Iterable<{ 0: string; index: number }>;
  [Symbol.replace](text: string, content: (match: string) => string): string;
}
