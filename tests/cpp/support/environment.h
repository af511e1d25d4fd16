// Environment variables of the process that runs the tests, also as WebAssembly under Node.
#pragma once

#include <cstdlib>

#ifdef __EMSCRIPTEN__
#include <emscripten/em_asm.h>
#endif

namespace clearformer::test {

inline bool is_set(const char* name) {
#ifdef __EMSCRIPTEN__  // its getenv() does not know them
  return EM_ASM_INT({ return UTF8ToString($0) in process.env; }, name) != 0;
#else
  return std::getenv(name) != nullptr;
#endif
}

}  // namespace clearformer::test
