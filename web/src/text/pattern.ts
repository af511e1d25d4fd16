// The interface of patterns.

/** A match and where it begins. */
export interface Match {
  readonly 0: string;
  readonly index: number;
}

/** Finds all its matches in a text, like a global RegExp. While it searches for long, it yields undefined. */
export interface Pattern {
  [Symbol.matchAll](text: string): Iterable<Match | undefined>;
  [Symbol.replace](text: string, content: (match: string) => string): string;
}
