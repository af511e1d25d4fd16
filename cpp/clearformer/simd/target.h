// Which instruction set a kernel file is compiled for. On x86-64 every kernel file is compiled three
// times, with CLEARFORMER_TARGET set to sse2, avx2 or avx512, and the best is picked at run time;
// elsewhere a program has one target. Both WebAssembly programs (with and without relaxed SIMD) call it
// by the same name, so that only the kernels are compiled twice.
#pragma once

#if defined(__wasm_simd128__)
#define CLEARFORMER_ONLY_TARGET wasm
#elif defined(__aarch64__)
#define CLEARFORMER_ONLY_TARGET neon
#elif !defined(__x86_64__)
#error "clearformer needs x86-64, aarch64 or WebAssembly with -msimd128"
#endif

#if defined(CLEARFORMER_ONLY_TARGET) && !defined(CLEARFORMER_TARGET)
#define CLEARFORMER_TARGET CLEARFORMER_ONLY_TARGET
#endif
