// Types of generated files: Emscripten's glue, and the embedded parts of the single-script build.

declare module '*/clearformer-simd128.mjs' {
  const createCore: import('./border.js').CreateCore;
  export default createCore;
}

declare module 'built:worker' {
  /** worker.js as text. */
  export const script: string;
}

declare module 'built:hook_functions' {
  /** hook_functions.js as text. */
  export const script: string;
}

declare module 'built:embedded' {
  /** A WASM build, as characters. */
  export const simd128: string;
  /** Characters whose byte is not their code: character, byte + 256, … */
  export const swapped: string;
}

declare module 'built:embedded_gradients' {
  /** The second file of that build. */
  export const simd128: string;
  export const swapped: string;
}

interface ImportMeta {
  /** The package's version. */
  readonly version: string;
}
