// The operations of the layers as functions that return new tensors, computed by the same kernels.
#pragma once

#include "clearformer/layers/attention.h"
#include "clearformer/layers/feed_forward.h"
#include "clearformer/layers/masking.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// exp(x) / Σ exp(x) along `axis` (negative counts from the end), with the maximum subtracted first.
Tensor softmax(const TensorView& x, std::ptrdiff_t axis = -1);

/// ln(softmax(x)) along `axis` as x - max - ln Σ exp(x - max), which neither overflows nor underflows.
/// A row of -inf throughout is unchanged, as softmax gives zeros for it.
Tensor log_softmax(const TensorView& x, std::ptrdiff_t axis = -1);

/// Softmax over the last axis of scores (B, H, T, S) or (B, T, S) under a mask. A fully masked row gives zeros, or is
/// uniform as in d2l.ai.
Tensor masked_softmax(const TensorView& scores, const Mask& mask,
                      EmptyRow empty_row = EmptyRow::zeros);

/// Product of x (…, n, k) and a matrix y (k, m) -> (…, n, m).
Tensor matmul(const TensorView& x, const TensorView& y);

/// Batch matrix product: x (B, n, k), y (B, k, m) -> (B, n, m).
Tensor bmm(const TensorView& x, const TensorView& y);

/// LayerNorm over the last `axes` axes; weight and bias have their shape, or are null.
Tensor layer_norm(const TensorView& x, std::size_t axes, const TensorView* weight,
                  const TensorView* bias, float eps);

/// RMSNorm over the last `axes` axes.
Tensor rms_norm(const TensorView& x, std::size_t axes, const TensorView* weight, float eps);

/// An activation function, elementwise.
Tensor activation(Activation kind, const TensorView& x);

/// ln(1 + exp(beta·x)) / beta, or x where beta·x > threshold.
Tensor softplus(const TensorView& x, float beta, float threshold);

/// Gated linear unit a ⊙ gate(b), with a and b the halves of x along `axis`: GLU with the sigmoid (Dauphin et al.
/// 2016, arXiv 1612.08083), GEGLU, SwiGLU, ReGLU with other gates (Shazeer 2020, arXiv 2002.05202).
Tensor gated(Activation gate, const TensorView& x, std::ptrdiff_t axis = -1);

/// The options of conv1d(), as in torch.
struct ConvolutionOptions {
  std::size_t stride = 1, dilation = 1, groups = 1;
  std::size_t padding = 0, padding_behind = 0;  // zeros before the first and after the last frame
};

/// torch's conv1d (see convolution.h): x (B, C, F) or (C, F), weight (O, C/groups, K), bias (O) or null
/// -> (B, O, F') or (O, F'). Throws invalid_argument for a stride or dilation of 0, shape_mismatch for shapes that do
/// not fit and taps that reach beyond the padded frames.
Tensor conv1d(const TensorView& x, const TensorView& weight, const TensorView* bias,
              const ConvolutionOptions& options);

}  // namespace clearformer
