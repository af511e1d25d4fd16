// Types of what the build makes: Emscripten's glue, and the texts that the inline entry carries.

declare module '*/clearformer-simd128.mjs' {
  const createCore: import('./border.js').CreateCore;
  export default createCore;
}

declare module '*/clearformer-simd128-threads.mjs' {
  const createCore: import('./border.js').CreateCore;
  export default createCore;
}

declare module 'inline:*' {
  const text: string;
  export default text;
}
