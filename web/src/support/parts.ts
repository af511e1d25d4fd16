// Parts of the package that are loaded on demand, or provided from the start in a single-script build (whole.ts).

const parts: Record<string, unknown> = {};

/** Provides parts by their file names below web/src. */
export function giveParts(given: Readonly<Record<string, unknown>>): void {
  Object.assign(parts, given);
}

/** The provided part, or the one that `load` loads. The build wraps every import() of such a part in this. */
export async function part<T>(name: string, load: () => Promise<T>): Promise<T> {
  return (parts[name] as T | undefined) ?? load();
}
