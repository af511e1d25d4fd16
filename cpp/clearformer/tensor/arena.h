// Arena: activations live here. Memory is taken in stack order, given back by frames, and kept for
// the next forward pass, so that a repeated shape allocates nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// Memory for the activations of one pass, given back all at once.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// A tensor that lives until the innermost open Frame closes. Elements are not initialised.
  MutableTensorView take(Shape shape, DType dtype = DType::f32);

  /// Bytes held, whether in use or not.
  std::size_t bytes() const;

  /// Gives back, at the end of its scope, all that was taken since its beginning.
  class Frame {
   public:
    explicit Frame(Arena& arena) : arena_(arena), block_(arena.block_), used_(arena.used_) {}
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;
    ~Frame() { arena_.rewind(block_, used_); }

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

  void rewind(std::size_t block, std::size_t used);
  void merge_blocks();

  std::vector<Block> blocks_;
  std::size_t block_ = 0;  // the block in use
  std::size_t used_ = 0;   // bytes used of it
};

}  // namespace clearformer
