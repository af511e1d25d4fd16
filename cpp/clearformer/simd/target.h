// The instruction set a kernel file is compiled for. Natively every kernel file is compiled several times, with
// CLEARFORMER_TARGET set to sse2, avx2 or avx512, or on aarch64 to neon or neon_fma, and the best is selected at run
// time; a WebAssembly program has one target. The programs with and without relaxed SIMD name it alike, so that only
// the kernels are compiled twice.
#pragma once

#if defined(__wasm__)
#define CLEARFORMER_ONLY_TARGET wasm
#elif !defined(__x86_64__) && !defined(__aarch64__)
#error "clearformer needs x86-64, aarch64 or WebAssembly"
#endif

#if defined(CLEARFORMER_ONLY_TARGET) && !defined(CLEARFORMER_TARGET)
#define CLEARFORMER_TARGET CLEARFORMER_ONLY_TARGET
#endif
