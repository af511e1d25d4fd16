// DeltaState: what a gated delta rule keeps of the past: of each head a matrix S, in which positions are no longer
// separate, and the last inputs of the convolution. Both as they are and as they were before the latest call, so that a
// call is taken back, exactly; a state further back there is not.
// Shapes: B batch, H heads, S (B, H, d_k, d_v), inputs (B, k − 1, C).
#pragma once

#include "clearformer/layers/position_mixer.h"

namespace clearformer {

/// The state of a gated delta rule; initially of no positions.
class DeltaState : public PastState {
 public:
  /// A state at one time; its tensors are empty at the beginning of a sequence.
  struct Moment {
    std::size_t length = 0;  // positions so far
    Tensor matrices, inputs;
  };

  /// The one of a layer, made by the first call.
  static DeltaState& in(std::unique_ptr<PastState>& past);

  std::size_t length() const override { return now_.length; }
  std::size_t batch() const override { return now_.matrices.empty() ? 0 : now_.matrices.dim(0); }
  std::size_t bytes() const override;
  bool holds(std::size_t length, std::size_t batch, const StackConfig& stack) const override;
  void expect_reach(std::size_t length, std::size_t layer) const override;
  void crop(std::size_t length) override;
  /// Without the state before it.
  std::unique_ptr<PastState> part(std::span<const std::size_t> rows, std::size_t length,
                                  std::size_t more) const override;

  /// What has been becomes the state before, which is returned; the present one, of these shapes, is then to be written.
  /// Throws shape_mismatch for another number of sequences.
  const Moment& advance(const Shape& matrices, const Shape& inputs, std::size_t positions);
  Moment& now() { return now_; }

 private:
  Moment now_, before_;
};

}  // namespace clearformer
