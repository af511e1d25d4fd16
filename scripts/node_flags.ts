// What Node needs on its command line to run both WASM builds: V8 knows relaxed SIMD without a flag from Node 21 on.

export const nodeFlags = Number.parseInt(process.versions.node, 10) < 21 ? ['--experimental-wasm-relaxed-simd'] : [];
