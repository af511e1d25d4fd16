// PastRows: what a layer that convolves the positions reads of the past: its inputs at the last of them.
// Shapes: B batch, T positions, D channels.
#pragma once

#include "clearformer/layers/position_mixer.h"

namespace clearformer {

/// The inputs (B, T, D) of a layer at past positions, of which it reads the last `overlap`; initially none. Held are
/// those of the latest call, and kReach before them, fewer once some were dropped, so that as many can be dropped.
class PastRows : public PastState {
 public:
  static constexpr std::size_t kReach = 256;

  /// Those of a layer, made by the first call.
  static PastRows& in(std::unique_ptr<PastState>& past);

  std::size_t length() const override { return length_; }
  /// The first position that is held.
  std::size_t first() const { return length_ - held_; }
  std::size_t batch() const override { return rows_.empty() ? 0 : rows_.dim(0); }
  std::size_t bytes() const override { return rows_.capacity(); }
  bool holds(std::size_t length, std::size_t batch, const StackConfig& stack) const override;
  void expect_reach(std::size_t length, std::size_t layer) const override;
  void crop(std::size_t length) override;
  std::unique_ptr<PastState> part(std::span<const std::size_t> rows, std::size_t length,
                                  std::size_t more) const override;

  /// window (B, overlap + T, D) holds the inputs at T more positions, which are appended, and before them zeros, in whose
  /// place the past is stored.
  void extend(const MutableTensorView& window, std::size_t overlap);

 private:
  void expect_room(std::size_t batch, std::size_t more, std::size_t width);

  Tensor rows_;  // (B, capacity, D)
  std::size_t length_ = 0, held_ = 0, overlap_ = 0;
};

}  // namespace clearformer
