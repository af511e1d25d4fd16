// WeightGradients: which weights' gradients are wanted, and their sums so far.
#pragma once

#include <memory>
#include <vector>

#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/kernels/panel_gradient.h"
#include "clearformer/weights/parameter.h"

namespace clearformer {

/// The sums of the gradients of those weights that are wanted. A weight is identified by the memory that its layer
/// computes with: a tied table has one gradient, whatever the number of its names. Backward passes add to the sums.
class WeightGradients {
 public:
  /// Asks for the gradient of a weight; the sums begin as zeros, 4 bytes a number. Asking again changes nothing. The
  /// parameter's owner must outlive this.
  void want(const Parameter& parameter);
  /// Whether any is wanted.
  bool any() const { return !sums_.empty(); }

  /// The sums of a packed weight, in the same panels, to be added to; null if they are not wanted.
  kernels::PanelGradient* of(const kernels::PackedMatrix& weight) const;
  /// The same of a weight or bias, as many floats as the tensor has.
  float* of(const Tensor& weight) const;

  /// The sums as rows of the shape of parameter.rows, which stay valid, and change, as more is added: in place of those
  /// of a Parameter they are read under its names in the file. Null if they are not wanted. The sums are those of the
  /// numbers a layer computes with, so of a quantised weight those of the dequantised one.
  std::shared_ptr<WeightRows> rows(const Parameter& parameter) const;

  /// Whether the latest pass added to them, if only zeros; without a pass, of all that are wanted.
  bool reached(const Parameter& parameter) const;

  /// Bytes of all sums.
  std::size_t bytes() const;
  /// Sets all sums to zero.
  void clear();
  /// The same, for a pass: a weight that it does not reach has no gradient.
  void begin_pass() {
    clear();
    ++pass_;
  }

 private:
  struct Sums {
    const void* weight;
    std::shared_ptr<kernels::PanelGradient> panels;  // or
    Tensor numbers;
    mutable std::size_t pass;  // the latest that reached it
  };
  const Sums* find(const void* weight) const;

  std::vector<Sums> sums_;
  std::size_t pass_ = 0;
};

/// to[i] += Σ_r a[r, i] · b[r, i], or Σ_r a[r, i] if b is null, for (rows, columns): a row of weights that all rows of
/// activations share. Accumulated in double, rows in order; the same bits for any number of threads.
void add_sum_of_rows(const float* a, const float* b, std::size_t rows, std::size_t columns,
                     float* to);

}  // namespace clearformer
