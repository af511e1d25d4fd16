// PastRows: what a layer that convolves the positions reads of the past: its inputs at the last of them.
// Shapes: B batch, T positions, D channels.
#pragma once

#include <span>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// The inputs (B, T, D) of a layer at past positions, of which it reads the last `overlap`; initially none. Held are
/// those of the latest call, and kReach before them, so that as many positions can be dropped again.
class PastRows {
 public:
  static constexpr std::size_t kReach = 256;

  /// All positions so far, and the first one that is held.
  std::size_t length() const { return length_; }
  std::size_t first() const { return length_ - held_; }
  std::size_t batch() const { return rows_.empty() ? 0 : rows_.dim(0); }
  std::size_t width() const { return rows_.empty() ? 0 : rows_.dim(2); }
  std::size_t bytes() const { return rows_.capacity(); }
  /// Whether it is that of `channels` of so many sequences at so many positions.
  [[gnu::noinline]] bool holds(std::size_t length, std::size_t batch, std::size_t channels) const;
  /// Throws unsupported, naming the layer, unless what follows the first `length` positions can be computed.
  [[gnu::noinline]] void expect_reach(std::size_t length, std::size_t layer) const;

  /// window (B, overlap + T, D) holds the inputs at T more positions, which are appended, and before them zeros, in whose
  /// place the past is stored.
  void extend(const MutableTensorView& window, std::size_t overlap);
  /// Drops the positions from `length` on, which it reaches.
  void crop(std::size_t length) {
    if (length < length_) drop(length);
  }
  /// The first `length` positions, which it reaches, of these sequences, with room for `more`.
  PastRows part(std::span<const std::size_t> rows, std::size_t length, std::size_t more) const;

 private:
  [[gnu::noinline]] void drop(std::size_t length);
  void expect_room(std::size_t batch, std::size_t more, std::size_t width);

  Tensor rows_;  // (B, capacity, D)
  std::size_t length_ = 0, held_ = 0, overlap_ = 0;
};

}  // namespace clearformer
