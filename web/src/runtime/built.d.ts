// Types of generated files: Emscripten's glue, and the embedded parts of the single-script build.

declare module '*/clearformer-simd128.mjs' {
  const createCore: import('./border.js').CreateCore;
  export default createCore;
}

declare module 'built:worker' {
  /** worker.js and hook_functions.js as one text. */
  export const script: string;
}

declare module 'built:embedded' {
  /** The first file of a WASM build; see embedded.ts. */
  export const wasm: string;
  export const swapped: string;
}

declare module 'built:second' {
  /** This part of every build. */
  export const wasm: string;
  export const swapped: string;
}

declare module 'built:hooks' {
  /** This part of every build. */
  export const wasm: string;
  export const swapped: string;
}

declare module 'built:families' {
  /** This part of every build. */
  export const wasm: string;
  export const swapped: string;
}

interface ImportMeta {
  /** The package's version. */
  readonly version: string;
}
