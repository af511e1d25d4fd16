// Parts of the package that are loaded when they are needed, in a build that may have them from the beginning (whole.ts).

const parts: Record<string, unknown> = {};

/** Gives parts by their files' names below web/src. */
export function giveParts(given: Readonly<Record<string, unknown>>): void {
  Object.assign(parts, given);
}

/** The part that was given, or what `load` loads. The build puts this around each import() of such a part. */
export async function part<T>(name: string, load: () => Promise<T>): Promise<T> {
  return (parts[name] as T | undefined) ?? load();
}
