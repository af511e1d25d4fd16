// Adds the remedy to what is wrong with the package's files; the code that finds it is loaded when needed.

/** `why` and the remedy, if that code can be loaded. */
export async function withRemedy(
  why: string,
  find: (cures: typeof import('./cures.js')) => string | Promise<string>,
): Promise<string> {
  const remedy = import('./cures.js').then(find).then((found) => `: ${found}`);
  return why + (await remedy.catch(() => ''));
}
