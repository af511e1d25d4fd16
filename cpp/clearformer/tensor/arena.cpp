#include "clearformer/tensor/arena.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace clearformer {

namespace {
constexpr std::size_t kMinBlock = std::size_t{64} * 1024;

std::size_t rounded(std::size_t bytes) {
  return (bytes + Tensor::kAlignment - 1) / Tensor::kAlignment * Tensor::kAlignment;
}
}  // namespace

Arena::~Arena() { release(); }

void Arena::release() {
  for (const Block& block : blocks_) release_aligned(block.memory);
  blocks_.clear();
}

void Arena::reserve(std::size_t bytes) {
  if (block_ != 0 || used_ != 0 || this->bytes() >= bytes) return;
  release();
  blocks_.reserve(1);
  blocks_.push_back({static_cast<char*>(allocate_aligned(bytes)), bytes});
}

MutableTensorView Arena::take(Shape shape, DType dtype) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(shape.elements(), size_of(dtype), &bytes) ||
      bytes > std::numeric_limits<std::size_t>::max() - Tensor::kAlignment) {
    fail(ErrorCode::out_of_memory, "out of memory: an activation of shape ", shape.text());
  }
  bytes = rounded(bytes);
  while (block_ < blocks_.size() && blocks_[block_].size - used_ < bytes) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const std::size_t size =
        std::max({bytes, kMinBlock, blocks_.empty() ? 0 : blocks_.back().size / 4});
    blocks_.reserve(blocks_.size() + 1);
    blocks_.push_back({static_cast<char*>(allocate_aligned(size)), size});
  }
  void* memory = blocks_[block_].memory + used_;
  used_ += bytes;
  std::size_t in_use = used_;
  for (std::size_t i = 0; i < block_; ++i) in_use += blocks_[i].size;
  most_used_ = std::max(most_used_, in_use);
  return {memory, dtype, shape};
}

MutableTensorView Arena::take_copy(const TensorView& x) {
  const MutableTensorView copy = take(x.shape());
  std::memcpy(copy.data(), x.data(), x.bytes());
  return copy;
}

std::size_t Arena::bytes() const {
  std::size_t total = 0;
  for (const Block& block : blocks_) total += block.size;
  return total;
}

void Arena::close(std::size_t block, std::size_t used) {
  --frames_;
  // The frame around it was closed before it.
  if (block > block_ || (block == block_ && used > used_)) return;
  block_ = block;
  used_ = used;
  if (block_ == 0 && used_ == 0 && blocks_.size() > 1) merge_blocks();
}

// After a pass that needed several blocks, one block of their total size serves the next pass.
void Arena::merge_blocks() {
  const std::size_t total = bytes();
  release();
  void* memory = try_allocate_aligned(total);
  if (memory != nullptr) blocks_.push_back({static_cast<char*>(memory), total});
}

}  // namespace clearformer
