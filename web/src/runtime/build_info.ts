// The WASM build in use.

/** `relaxed` uses fused multiply-add and may differ in the last bits between engines; `simd128` never does. */
export type Variant = 'simd128' | 'relaxed';

/** Version, instructions, and the width of the integers that products of q8 and q4 of several rows sum. */
export interface BuildInfo {
  version: string;
  simd: Variant;
  dot_bits: 8 | 16;
}
