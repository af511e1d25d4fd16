// The order of a module's functions in which it takes least when compressed: each is followed by the one that shares most
// with those just before it. With brotli that is 2 % less than in the order of the functions' names, or of their sizes.

import { part, Reader, sectionIds, sectionsOf, written } from './wasm_binary.js';

const sequence = 6; // bytes of code that are compared; the best of 4, 6 and 8
const mostHolders = 60; // a sequence that more functions hold is not counted
const fading = 0.95; // of what a function shares with another, for each function between them

/** The sequences of a function's code, as hashes. */
function sequencesOf(code: Uint8Array): Set<number> {
  const found = new Set<number>();
  for (let at = 0; at + sequence <= code.length; at++) {
    let hash = 0;
    for (const byte of code.subarray(at, at + sequence)) hash = Math.imul(hash, 0x01000193) ^ byte;
    found.add(hash);
  }
  return found;
}

/** The functions that hold each sequence, of those that can tell two functions' likeness. */
function holdersOf(sequences: readonly ReadonlySet<number>[]): Map<number, number[]> {
  const holders = new Map<number, number[]>();
  for (const [index, found] of sequences.entries())
    for (const each of found) {
      const known = holders.get(each);
      if (known) known.push(index);
      else holders.set(each, [index]);
    }
  for (const [each, { length }] of holders) if (length === 1 || length > mostHolders) holders.delete(each);
  return holders;
}

/** The functions' numbers in that order, which begins with the first of `codes`. */
export function orderOf(codes: readonly Uint8Array[]): number[] {
  const sequences = codes.map(sequencesOf);
  const holders = holdersOf(sequences);
  const shared = new Float64Array(codes.length); // with those in the order, the last of them most
  const left = new Set(codes.keys());
  const order: number[] = [];
  for (let next = 0; left.delete(next); ) {
    order.push(next);
    for (const index of left) shared[index] = (shared[index] ?? 0) * fading;
    for (const each of sequences[next] ?? []) {
      const others = holders.get(each) ?? [];
      for (const index of others) shared[index] = (shared[index] ?? 0) + 1 / (others.length - 1);
    }
    let most = -1;
    for (const index of left) {
      // For its length, else the longest would always come first; short ones have little to gain.
      const share = (shared[index] ?? 0) / (20 + (sequences[index]?.size ?? 0) ** 0.8);
      if (share > most) [most, next] = [share, index];
    }
  }
  return order;
}

/** How many functions a module imports. */
function importedFunctions(section: Reader): number {
  const limits = (): void => {
    const both = section.byte() & 1;
    section.number();
    if (both) section.number();
  };
  let functions = 0;
  for (let left = section.number(); left > 0; left--) {
    section.part();
    section.part();
    const kind = section.byte();
    if (kind === 0) functions++;
    if (kind !== 2) section.number(); // a type
    if (kind === 1 || kind === 2) limits(); // of a table, a memory
    if (kind === 3 || kind === 4) section.number(); // whether a global changes, a tag's type
  }
  return functions;
}

/** The module with functions named by their places in that order, as `wasm-opt --reorder-functions-by-name` reads them. */
export function namedByOrder(module: Uint8Array): Uint8Array {
  const sections = sectionsOf(module);
  const section = (id: number): Reader => new Reader(sections.get(id) ?? new Uint8Array(1));
  const imported = importedFunctions(section(sectionIds.imports));
  const code = section(sectionIds.code);
  const codes = Array.from({ length: code.number() }, () => code.part());
  const text = (value: string): number[] => part([...new TextEncoder().encode(value)]);
  const places = new Map(orderOf(codes).map((index, place) => [imported + index, place]));
  const names = [...places].sort(([one], [other]) => one - other);
  const list = names.flatMap(([index, place]) => [...written(index), ...text(String(place).padStart(6, '0'))]);
  const functions = [1, ...part([...written(names.length), ...list])];
  return Buffer.concat([module, new Uint8Array([0, ...part([...text('name'), ...functions])])]);
}
