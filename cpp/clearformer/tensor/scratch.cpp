#include "clearformer/tensor/scratch.h"

#include "clearformer/tensor/tensor.h"

namespace clearformer {

namespace {
#if defined(__EMSCRIPTEN__)
Tensor memory;  // one: the computing thread passes parts of it to the pool
#else
thread_local Tensor memory;
#endif
}  // namespace

unsigned char* scratch(std::size_t bytes) {
  if (memory.capacity() < bytes) {
    memory = Tensor();
    memory = Tensor({bytes}, DType::u8);
  }
  return static_cast<unsigned char*>(memory.data());
}

std::size_t scratch_bytes() { return memory.capacity(); }

}  // namespace clearformer
