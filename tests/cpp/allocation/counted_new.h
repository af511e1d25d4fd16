// The program's operator new, which counts live bytes and fails on request. Replaces that of the whole program:
// only one of its files may include this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace clearformer::test::counted {

inline std::size_t live = 0, peak = 0;  // bytes
inline std::size_t calls = 0, first_failing = ~std::size_t{0}, last_failing = 0;

constexpr std::size_t kHead = 64;  // before each block: its size, followed by alignment padding

inline void* allocate(std::size_t bytes) {
  ++calls;
  if (calls >= first_failing && calls <= last_failing) return nullptr;
  void* block = std::aligned_alloc(kHead, (bytes + 2 * kHead - 1) / kHead * kHead);
  if (block == nullptr) return nullptr;
  *static_cast<std::size_t*>(block) = bytes;
  live += bytes;
  peak = std::max(peak, live);
  return static_cast<char*>(block) + kHead;
}

inline void* allocate_or_throw(std::size_t bytes) {
  void* memory = allocate(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

inline void release(void* memory) {
  if (memory == nullptr) return;
  void* block = static_cast<char*>(memory) - kHead;
  live -= *static_cast<std::size_t*>(block);
  std::free(block);
}

}  // namespace clearformer::test::counted

// All replaceable forms, so that a sanitizer's runtime defines none of them.
void* operator new(std::size_t bytes) {
  return clearformer::test::counted::allocate_or_throw(bytes);
}
void* operator new[](std::size_t bytes) {
  return clearformer::test::counted::allocate_or_throw(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t) {
  return clearformer::test::counted::allocate_or_throw(bytes);
}
void* operator new[](std::size_t bytes, std::align_val_t) {
  return clearformer::test::counted::allocate_or_throw(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return clearformer::test::counted::allocate(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return clearformer::test::counted::allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t, const std::nothrow_t&) noexcept {
  return clearformer::test::counted::allocate(bytes);
}
void* operator new[](std::size_t bytes, std::align_val_t, const std::nothrow_t&) noexcept {
  return clearformer::test::counted::allocate(bytes);
}
void operator delete(void* memory) noexcept { clearformer::test::counted::release(memory); }
void operator delete[](void* memory) noexcept { clearformer::test::counted::release(memory); }
void operator delete(void* memory, std::size_t) noexcept {
  clearformer::test::counted::release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  clearformer::test::counted::release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  clearformer::test::counted::release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  clearformer::test::counted::release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  clearformer::test::counted::release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  clearformer::test::counted::release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  clearformer::test::counted::release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  clearformer::test::counted::release(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  clearformer::test::counted::release(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  clearformer::test::counted::release(memory);
}
