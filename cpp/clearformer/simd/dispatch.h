// Declares a kernel for every target of the build and, under its plain name, the one selected for this machine.
#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>

#include "clearformer/simd/target.h"

namespace clearformer::simd {

/// Instruction sets that kernels are compiled for.
enum class Target { sse2, avx2, avx512, neon, neon_fma, simd128, relaxed };

/// The target whose kernels this process runs: the best that both processor and build support (avx512 requires VNNI:
/// Intel since Cascade Lake, AMD since Zen 4), or the one named by the environment variable CLEARFORMER_SIMD (sse2,
/// avx2, avx512; neon, neon_fma) if it is supported. sse2, neon and simd128 give the same bits: they round products
/// before adding them, the others fuse the two.
Target selected();

/// "avx2", "simd128", …
const char* name_of(Target target);

/// The targets of a build with several, in the order of a Kernel's functions.
#if defined(__aarch64__)
inline constexpr Target kTargets[] = {Target::neon, Target::neon_fma};
#else
inline constexpr Target kTargets[] = {Target::sse2, Target::avx2, Target::avx512};
#endif

/// A kernel's functions, one per target; called as the one for the selected target, which the first call looks for: that
/// may be before main().
template <class Function>
class Kernel {
 public:
  template <class... Functions>
  constexpr explicit Kernel(Functions*... functions) : functions_{functions...} {}
  operator Function*() const {
    Function* const chosen = chosen_.load(std::memory_order_relaxed);
    return chosen != nullptr ? chosen : choose();
  }

 private:
  Function* choose() const {
    std::size_t index = 0;
    while (kTargets[index] != selected()) ++index;
    chosen_.store(functions_[index], std::memory_order_relaxed);
    return functions_[index];
  }

  Function* functions_[std::size(kTargets)];
  mutable std::atomic<Function*> chosen_{nullptr};
};

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
#elif defined(__aarch64__)
#define CLEARFORMER_KERNEL(result, name, ...)                                              \
  namespace neon {                                                                         \
  result name(__VA_ARGS__);                                                                \
  }                                                                                        \
  namespace neon_fma {                                                                     \
  result name(__VA_ARGS__);                                                                \
  }                                                                                        \
  inline constinit const ::clearformer::simd::Kernel<result(__VA_ARGS__)> name{neon::name, \
                                                                               neon_fma::name};
#else
#define CLEARFORMER_KERNEL(result, name, ...)                                   \
  namespace sse2 {                                                              \
  result name(__VA_ARGS__);                                                     \
  }                                                                             \
  namespace avx2 {                                                              \
  result name(__VA_ARGS__);                                                     \
  }                                                                             \
  namespace avx512 {                                                            \
  result name(__VA_ARGS__);                                                     \
  }                                                                             \
  inline constinit const ::clearformer::simd::Kernel<result(__VA_ARGS__)> name{ \
      sse2::name, avx2::name, avx512::name};
#endif
