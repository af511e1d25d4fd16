// Flags with which Node runs both WASM builds: V8 supports relaxed SIMD without a flag from Node 21 on.

export const nodeFlags = Number.parseInt(process.versions.node, 10) < 21 ? ['--experimental-wasm-relaxed-simd'] : [];
