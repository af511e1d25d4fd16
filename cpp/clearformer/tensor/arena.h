// Arena: a stack allocator for activations. Frames release memory in stack order; the blocks are kept for the
// next forward pass, so that repeating a shape allocates nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// Memory for the activations of one forward pass, released all at once.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Allocates one block of at least `bytes` for the coming pass, unless a tensor is in use or the memory held suffices:
  /// what a pass would otherwise request piece by piece stays in one place.
  void reserve(std::size_t bytes);

  /// A tensor valid until the innermost open Frame closes. Its elements are uninitialised.
  MutableTensorView take(Shape shape, DType dtype = DType::f32);
  /// The same of floats, with the elements of x.
  MutableTensorView take_copy(const TensorView& x);

  /// Bytes allocated, in use or not.
  std::size_t bytes() const;
  /// The most that was in use at a time.
  std::size_t most_used() const { return most_used_; }
  /// The number of open frames.
  std::size_t frames() const { return frames_; }

  /// Releases, at the end of its scope, everything taken since its construction.
  class Frame {
   public:
    [[gnu::noinline]] explicit Frame(Arena& arena)
        : arena_(arena), block_(arena.block_), used_(arena.used_) {
      ++arena.frames_;
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;
    ~Frame() { arena_.close(block_, used_); }

   private:
    Arena& arena_;
    std::size_t block_;
    std::size_t used_;
  };

 private:
  struct Block {
    char* memory;
    std::size_t size;
  };

  void close(std::size_t block, std::size_t used);
  void merge_blocks();
  void release();

  std::vector<Block> blocks_;
  std::size_t block_ = 0;  // the current block
  std::size_t used_ = 0;   // bytes of it in use
  std::size_t most_used_ = 0;
  std::size_t frames_ = 0;
};

}  // namespace clearformer
