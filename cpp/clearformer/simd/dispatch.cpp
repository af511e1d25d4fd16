#include "clearformer/simd/dispatch.h"

#include <cstdlib>
#include <cstring>
#include <iterator>

#if defined(__x86_64__)
#include <xsimd/xsimd.hpp>
#endif

namespace clearformer::simd {

namespace {

#if defined(__wasm_relaxed_simd__)
Target detect() { return Target::relaxed; }
#elif defined(__wasm_simd128__)
Target detect() { return Target::simd128; }
#else
#if defined(__aarch64__)
constexpr Target kBestFirst[] = {Target::neon_fma, Target::neon};

bool runs(Target) { return true; }
#else
constexpr Target kBestFirst[] = {Target::avx512, Target::avx2, Target::sse2};

bool runs(Target target) {
  const auto available = xsimd::available_architectures();
  switch (target) {
    case Target::avx512: return available.has(xsimd::avx512vnni<xsimd::avx512bw>{});
    case Target::avx2: return available.has(xsimd::fma3<xsimd::avx2>{});
    default: return target == Target::sse2;
  }
}
#endif

Target detect() {
  // Called once, and nothing here changes the environment: NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* wanted = std::getenv("CLEARFORMER_SIMD");
  for (const Target target : kBestFirst) {
    if (wanted != nullptr && std::strcmp(wanted, name_of(target)) == 0 && runs(target))
      return target;
  }
  for (const Target target : kBestFirst) {
    if (runs(target)) return target;
  }
  return std::end(kBestFirst)[-1];
}
#endif

}  // namespace

Target selected() {
  static const Target target = detect();
  return target;
}

const char* name_of(Target target) {
  switch (target) {
    case Target::sse2: return "sse2";
    case Target::avx2: return "avx2";
    case Target::avx512: return "avx512";
    case Target::neon: return "neon";
    case Target::neon_fma: return "neon_fma";
    case Target::simd128: return "simd128";
    case Target::relaxed: return "relaxed";
  }
  return "unknown";
}

}  // namespace clearformer::simd
