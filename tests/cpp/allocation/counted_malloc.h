// The program's malloc in WebAssembly, on top of Emscripten's allocator: counts live bytes and fails on request. It
// replaces malloc for the whole program, including operator new and the JavaScript glue code: only one file may include
// this.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

extern "C" {
void* emmalloc_memalign(std::size_t alignment, std::size_t bytes);
void emmalloc_free(void* memory);
}

namespace clearformer::test::counted {

inline std::size_t live = 0, peak = 0;  // bytes
inline std::size_t calls = 0, first_failing = ~std::size_t{0}, last_failing = 0;

inline void* fail_to_allocate() {
  errno = ENOMEM;
  return nullptr;
}

// Stored before each block.
struct Head {
  std::size_t offset,
      bytes;  // from the start of the allocation, for alignment; as requested
};
inline Head& head_of(void* memory) { return static_cast<Head*>(memory)[-1]; }

inline void* allocate(std::size_t alignment, std::size_t bytes) {
  ++calls;
  if (calls >= first_failing && calls <= last_failing) return fail_to_allocate();
  const std::size_t offset = std::max(alignment, sizeof(Head));
  if (bytes > ~offset) return fail_to_allocate();
  auto* block = static_cast<char*>(emmalloc_memalign(offset, offset + bytes));
  if (block == nullptr) return fail_to_allocate();
  head_of(block + offset) = {offset, bytes};
  live += bytes;
  peak = std::max(peak, live);
  return block + offset;
}

inline void release(void* memory) {
  if (memory == nullptr) return;
  live -= head_of(memory).bytes;
  emmalloc_free(static_cast<char*>(memory) - head_of(memory).offset);
}

}  // namespace clearformer::test::counted

extern "C" {
void* malloc(std::size_t bytes) {
  return clearformer::test::counted::allocate(alignof(std::max_align_t), bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return clearformer::test::counted::allocate(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return clearformer::test::counted::allocate(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = clearformer::test::counted::allocate(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    return clearformer::test::counted::fail_to_allocate();
  }
  void* memory = clearformer::test::counted::allocate(alignof(std::max_align_t), bytes);
  return memory == nullptr ? nullptr : std::memset(memory, 0, bytes);
}
void free(void* memory) { clearformer::test::counted::release(memory); }
void* realloc(void* memory, std::size_t bytes) {
  void* moved = malloc(bytes);
  if (moved == nullptr || memory == nullptr) return moved;
  std::memcpy(moved, memory, std::min(bytes, clearformer::test::counted::head_of(memory).bytes));
  free(memory);
  return moved;
}
}
