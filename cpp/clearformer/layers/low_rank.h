// Low-rank updates of linear layers (LoRA): y = x·Wᵀ + b + Σ s·(x·Aᵀ)·Bᵀ.
// backward: v = s·dy·B, dx += v·A, dA = vᵀ·x, dB = s·dyᵀ·(x·Aᵀ)
// Source: Hu et al. 2021 (arXiv 2106.09685), as peft.tuners.lora.Linear computes it.
// Shapes: x (…, in), A (r, in), B (out, r), y (…, out).
//
// W itself does not change, so that updates are exchanged without reading it, in any format, and leave no rounding.
#pragma once

#include <memory>
#include <vector>

#include "clearformer/layers/weight_gradients.h"

namespace clearformer {

/// One update: s·B·A, which is added to W.
struct LowRankUpdate {
  std::shared_ptr<kernels::PackedMatrix> down;  // A
  std::shared_ptr<kernels::PackedMatrix> up;    // B
  float scale = 1.0f;                           // s
};

/// The updates of a linear layer that are in force.
class LowRankUpdates {
 public:
  bool any() const { return !updates_.empty(); }
  /// Updates are replaced in two steps, since the first may find no memory: `add` those of the next ones, after `begin`,
  /// then put them in force.
  void begin() { next_ = {}; }
  void add(LowRankUpdate update) { next_.push_back(std::move(update)); }
  void put_in_force() noexcept {
    updates_.swap(next_);
    begin();
  }

  /// y (rows, out) += Σ s·(x·Aᵀ)·Bᵀ for x (rows, in).
  void forward(const float* x, float* y, std::size_t rows) const;
  /// dx (rows, in) += Σ s·dy·B·A for dy (rows, out), unless dx is null, and onto `gradients`, which may be null, those
  /// of A and B that are wanted. x may be null if none is.
  void backward(const float* x, const float* dy, float* dx, std::size_t rows,
                const WeightGradients* gradients, Arena& arena) const;
  /// Adds row `output` of Σ s·B·A, (in), to a row of W.
  void add_row(std::size_t output, float* row) const;

 private:
  std::vector<LowRankUpdate> updates_, next_;
};

}  // namespace clearformer
