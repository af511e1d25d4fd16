#include "clearformer/tensor/stopwatch.h"

#if defined(__EMSCRIPTEN__)
#include <emscripten/emscripten.h>
#else
#include <chrono>
#endif

namespace clearformer {

#if defined(__EMSCRIPTEN__)

// The clocks of <chrono> bring system_error and printf, which nothing else here needs.
double Stopwatch::now() { return emscripten_get_now() * 1e-3; }

#else

double Stopwatch::now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

#endif

}  // namespace clearformer
