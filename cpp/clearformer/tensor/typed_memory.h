// typed_memory: what public calls put around their work, so that memory the system refuses is an Error as all else is.
#pragma once

#include <new>

#include "clearformer/tensor/error.h"

namespace clearformer {

/// Calls `work`; what it throws for memory that was refused becomes an Error of out_of_memory, which needs none itself.
/// In WebAssembly the border does so, around every call.
template <class Work>
auto typed_memory(Work&& work) -> decltype(work()) {
#ifdef __EMSCRIPTEN__
  return work();
#else
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "out of memory");  // short enough for no allocation
  }
#endif
}

}  // namespace clearformer
