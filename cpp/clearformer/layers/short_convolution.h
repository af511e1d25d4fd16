// Short convolution: a causal depthwise convolution of the positions, with a gate before and one after it:
//   B = u·W_B,  C = u·W_C,  X = u·W_X;   y_t = b + Σ_{j<k} w_j ⊙ (B ⊙ X)_{t−k+1+j};   out = (C ⊙ y)·W_O
// where u is zero at padded positions, as are the inputs of the convolution before the first position.
// Source: transformers' Lfm2ShortConv. Shapes: T positions, D channels, u (batch, T, D), w (D, 1, k).
// Hook points: hook_b, hook_c, hook_x, hook_conv (B, C, X, y) (batch, T, D).
#pragma once

#include "clearformer/layers/past_rows.h"

namespace clearformer {

/// The sizes of a short convolution.
struct ShortConvolutionConfig {
  std::size_t d_model = 0;
  std::size_t taps = 0;    // k
  Bias bias = Bias::none;  // of the projections and of the convolution
};

/// A gated short convolution with its projections.
class ShortConvolution : public PositionMixer {
 public:
  /// Loads "b_proj", "c_proj", "x_proj", "conv", "out_proj".
  ShortConvolution(const WeightScope& scope, const ShortConvolutionConfig& config);

  void forward(const TensorView& x, const TensorView* padding, std::unique_ptr<PastState>* past,
               const MutableTensorView& output, Write write, const Context& context) const override;
  void backward(const TensorView& x, const TensorView* padding, const TensorView& d_output,
                const MutableTensorView& dx, Write write, const Context& context) const override;

 private:
  MutableTensorView window(const TensorView& b, const TensorView& x, Arena& arena) const;

  ShortConvolutionConfig config_;
  Linear b_, c_, x_, output_;
  Tensor weight_, bias_;  // (D, 1, k), (D)
};

}  // namespace clearformer
