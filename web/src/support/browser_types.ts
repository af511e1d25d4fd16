// Browsers' types in the declarations, which are compiled without TypeScript's library `dom`, too: on servers with
// @types/node alone.

/** The type of a browser's class, by its name; where the program's libraries have no such class: no type. */
export type Browser<Class extends string> = typeof globalThis extends { [C in Class]: { prototype: infer Type } }
  ? Type
  : never;
