#include "clearformer/tensor/stopwatch.h"

#include <time.h>

namespace clearformer {

// Not <chrono>, whose clocks link system_error and printf into the WebAssembly module.
double Stopwatch::now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace clearformer
