// typed_memory: wraps the work of public calls, so that a failed allocation becomes an Error like other failures.
#pragma once

#include <new>
#include <stdexcept>

#include "clearformer/tensor/error.h"

namespace clearformer {

/// Calls `work` and turns std::bad_alloc, and std::length_error of a container larger than any memory, into an Error of
/// out_of_memory, built without allocating. In WebAssembly the bindings do so around every call.
template <class Work>
auto typed_memory(Work&& work) -> decltype(work()) {
#ifdef __EMSCRIPTEN__
  return work();
#else
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "out of memory");  // short enough for no allocation
  } catch (const std::length_error&) {
    throw Error(ErrorCode::out_of_memory, "out of memory");
  }
#endif
}

}  // namespace clearformer
