#include "clearformer/tensor/stopwatch.h"

#ifdef __EMSCRIPTEN__
#include <emscripten/emscripten.h>
#else
#include <time.h>
#endif

namespace clearformer {

// Not <chrono>, whose clocks link system_error and printf into the WebAssembly module.
#ifdef __EMSCRIPTEN__
double Stopwatch::now() { return emscripten_get_now() * 1e-3; }
#else
double Stopwatch::now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
#endif

}  // namespace clearformer
