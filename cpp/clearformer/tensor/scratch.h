// Scratch memory for a computation that calls nothing that uses scratch memory itself.
#pragma once

#include <cstddef>

namespace clearformer {

/// `bytes` bytes, 64-byte aligned and uninitialised; valid until this thread's next call. The memory is kept and
/// grows to the largest size requested.
unsigned char* scratch(std::size_t bytes);

/// Bytes kept by this thread.
std::size_t scratch_bytes();

}  // namespace clearformer
