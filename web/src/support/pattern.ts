// Texts in which `*` stands for any characters.

/** A test for the whole of a name. */
export function patternOf(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);
}
