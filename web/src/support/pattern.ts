// Name patterns in which `*` matches any characters.

/** Returns a test for the whole of a name. */
export function nameTest(pattern: string): (name: string) => boolean {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(start) || !name.endsWith(end)) return false;
    let from = start.length;
    for (const part of parts) {
      const place = name.indexOf(part, from); // the first match: a later one would leave less to the following parts
      if (place < 0) return false;
      from = place + part.length;
    }
    return from <= name.length - end.length;
  };
}
