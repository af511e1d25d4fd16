// Types of what the build makes: Emscripten's glue, and what the package in one script carries.

declare module '*/clearformer-simd128.mjs' {
  const createCore: import('./border.js').CreateCore;
  export default createCore;
}

declare module '*/clearformer-simd128-threads.mjs' {
  const createCore: import('./border.js').CreateCore;
  export default createCore;
}

declare module 'built:worker' {
  /** worker.js as a text. */
  export const script: string;
}

declare module 'built:embedded' {
  /** A WASM build, as characters. */
  export const simd128: string;
  /** Characters of other bytes than their codes say: character, byte + 256, … */
  export const swapped: string;
}

interface ImportMeta {
  /** The package's version. */
  readonly version: string;
}
