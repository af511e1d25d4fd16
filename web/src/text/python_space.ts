// What Python's str.strip() removes from the ends of texts.

/** Whether Python removes a character: those that JavaScript does and a few more, but no byte order mark. */
export const isSpace = (one: string) => (one.trim() === '' ? one !== '\ufeff' : '\x1c\x1d\x1e\x1f\x85'.includes(one));

/** From where to where a list, or a text, is left if what is cut is at its start or its end. */
export function keptRange(
  all: ArrayLike<string>,
  isCut = isSpace,
  start = true,
  end = true,
): [first: number, after: number] {
  let [first, after] = [0, all.length];
  while (start && first < after && isCut(all[first] as string)) first++;
  while (end && first < after && isCut(all[after - 1] as string)) after--;
  return [first, after];
}
