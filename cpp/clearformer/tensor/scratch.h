// Scratch memory of a computation that calls nobody who might want it too.
#pragma once

#include <cstddef>

namespace clearformer {

/// `bytes` bytes, 64-byte aligned, whose contents are anybody's guess; valid until the next call in
/// this thread. The memory is kept and grows to the largest size asked for.
unsigned char* scratch(std::size_t bytes);

/// What this thread keeps.
std::size_t scratch_bytes();

}  // namespace clearformer
