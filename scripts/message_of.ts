// The text of an error; without Node's modules, since a page uses it as well.

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
