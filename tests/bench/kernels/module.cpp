// The works as a WebAssembly module that a page or Node loads directly.
#include <emscripten/emscripten.h>

#include "works.h"

extern "C" {

EMSCRIPTEN_KEEPALIVE const char* bench_names() { return clearformer::bench::work_names().c_str(); }

EMSCRIPTEN_KEEPALIVE double bench_run(int work, int m, int k, int n, int repetitions) {
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  return clearformer::bench::seconds_of(size(work), {size(m), size(k), size(n)}, size(repetitions));
}
}
