// Declares a kernel for every target of the build and, under its plain name, the one that runs here.
#pragma once

#include "clearformer/simd/target.h"

namespace clearformer::simd {

enum class Target { sse2, avx2, avx512, neon, simd128, relaxed };

/// The target the kernels of this process run on: the best that processor and build have (avx512: with VNNI,
/// which Intel has since Cascade Lake and AMD since Zen 4), or, on
/// x86-64, the one the environment variable CLEARFORMER_SIMD names (sse2, avx2, avx512) if it runs.
Target selected();

/// "avx2", "simd128", …
const char* name_of(Target target);

template <class Function>
Function* best(Function* sse2, Function* avx2, Function* avx512) {
  const Target target = selected();
  return target == Target::avx512 ? avx512 : target == Target::avx2 ? avx2 : sse2;
}

}  // namespace clearformer::simd

#if defined(CLEARFORMER_ONLY_TARGET)
#define CLEARFORMER_KERNEL(result, name, ...) \
  namespace CLEARFORMER_ONLY_TARGET {         \
  result name(__VA_ARGS__);                   \
  }                                           \
  using CLEARFORMER_ONLY_TARGET::name;
#elif defined(CLEARFORMER_TARGET)  // inside a kernel file: its own target only
#define CLEARFORMER_KERNEL(result, name, ...) \
  namespace CLEARFORMER_TARGET {              \
  result name(__VA_ARGS__);                   \
  }
#else
#define CLEARFORMER_KERNEL(result, name, ...) \
  namespace sse2 {                            \
  result name(__VA_ARGS__);                   \
  }                                           \
  namespace avx2 {                            \
  result name(__VA_ARGS__);                   \
  }                                           \
  namespace avx512 {                          \
  result name(__VA_ARGS__);                   \
  }                                           \
  inline result (*const name)(__VA_ARGS__) =  \
      ::clearformer::simd::best(sse2::name, avx2::name, avx512::name);
#endif
