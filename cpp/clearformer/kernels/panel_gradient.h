// PanelGradient: the sums of the gradient of a packed weight, in the weight's own layout.
#pragma once

#include "clearformer/tensor/arena.h"
#include "clearformer/tensor/matrix.h"

namespace clearformer::kernels {

/// The gradient of a weight (N outputs, K inputs), in fp32 panels (matmul.h) whatever the weight's format; it begins as
/// zeros. Its rows are the weight's.
class PanelGradient : public WeightRows {
 public:
  PanelGradient(std::size_t outputs, std::size_t inputs);

  MatrixFormat format() const override { return MatrixFormat::f32; }
  std::size_t outputs() const override { return outputs_; }
  std::size_t inputs() const override { return inputs_; }
  std::size_t bytes() const override { return panels_.view().bytes(); }
  WeightPlace place() const override { return {panels_.data(), 0, panels_.elements(), true}; }
  void copy_row(std::size_t output, float* to) const override;
  void set_row(std::size_t output, const float* row) override;
  /// Adds K floats to a row, as the look-up of an embedding needs it.
  void add_to_row(std::size_t output, const float* row) { add_to_row(output, row, 0, inputs_); }
  /// The same for the inputs first … end - 1 alone; `row` begins at `first`.
  void add_to_row(std::size_t output, const float* row, std::size_t first, std::size_t end);

  /// += dyᵀ·x, of `rows` rows dy (rows, N) and x (rows, K). Each element adds up blocks of kRows rows, the rows of a
  /// block in order, with the same bits for any number of threads.
  void add_outer(const float* dy, const float* x, std::size_t rows, Arena& arena);
  static constexpr std::size_t kRows = 512;

  /// All panels, with the padding of the last one, which stays zero: for elementwise work in place.
  Tensor& panels() {
    zero_ = false;
    return panels_;
  }
  const Tensor& panels() const { return panels_; }
  /// Begins again with zeros.
  void clear();
  /// Rows with those that complete the last panel.
  static std::size_t padded(std::size_t outputs);

 private:
  std::size_t outputs_, inputs_;
  Tensor panels_;     // (P, K, W)
  bool zero_ = true;  // nothing was added
};

}  // namespace clearformer::kernels
