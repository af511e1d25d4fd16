// Results that are computed once and kept, unless their computation fails: then the next call tries again.

/** The part of Map and WeakMap that is used. */
interface Memory<Key, Value> {
  get(key: Key): Promise<Value> | undefined;
  set(key: Key, value: Promise<Value>): unknown;
  delete(key: Key): unknown;
}

/** The result for a key: the known one, else that of `make`. */
export function remembered<Key, Value>(
  memory: Memory<Key, Value>,
  key: Key,
  make: () => Promise<Value>,
): Promise<Value> {
  const known = memory.get(key);
  if (known) return known;
  const made = make();
  memory.set(key, made);
  made.catch(() => memory.delete(key));
  return made;
}

/** A function that returns the result of one call of `work`. */
export function once<Value>(work: () => Promise<Value>): () => Promise<Value> {
  const results = new Map<typeof work, Promise<Value>>();
  return () => remembered(results, work, work);
}
