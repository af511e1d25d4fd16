// The operations of the blocks as functions of tensors that give new tensors; each is the kernel
// that the layers use.
#pragma once

#include "clearformer/layers/attention.h"
#include "clearformer/layers/feed_forward.h"
#include "clearformer/layers/masking.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// exp(x) / Σ exp(x) along `axis` (negative counts from the end), the largest subtracted first.
Tensor softmax(const TensorView& x, std::ptrdiff_t axis = -1);

/// ln(softmax(x)) along `axis` as x - max - ln Σ exp(x - max), which neither overflows nor underflows.
/// A row of -inf alone stays one, as softmax gives zeros there.
Tensor log_softmax(const TensorView& x, std::ptrdiff_t axis = -1);

/// Softmax over the last axis of scores (B, H, T, S) or (B, T, S) under a mask. A row with nothing
/// left is zeros, or uniform as d2l.ai has it.
Tensor masked_softmax(const TensorView& scores, const Mask& mask,
                      EmptyRow empty_row = EmptyRow::zeros);

/// x (…, n, k) times a matrix y (k, m) -> (…, n, m).
Tensor matmul(const TensorView& x, const TensorView& y);

/// Batch matrix product: x (B, n, k), y (B, k, m) -> (B, n, m).
Tensor bmm(const TensorView& x, const TensorView& y);

/// LayerNorm over the last `axes` axes; weight and bias have their shape, or are left out (null).
Tensor layer_norm(const TensorView& x, std::size_t axes, const TensorView* weight,
                  const TensorView* bias, float eps);

/// RMSNorm over the last `axes` axes.
Tensor rms_norm(const TensorView& x, std::size_t axes, const TensorView* weight, float eps);

/// The activation function, elementwise.
Tensor activation(Activation kind, const TensorView& x);

/// ln(1 + exp(beta·x)) / beta, and x itself where beta·x > threshold.
Tensor softplus(const TensorView& x, float beta, float threshold);

/// a ⊙ gate(b), a and b the halves of x along `axis`: GLU with a sigmoid (Dauphin et al. 2016, arXiv
/// 1612.08083), GEGLU, SwiGLU, ReGLU with other gates (Shazeer 2020, arXiv 2002.05202).
Tensor gated(Activation gate, const TensorView& x, std::ptrdiff_t axis = -1);

/// The options of conv1d(), as torch has them.
struct ConvolutionOptions {
  std::size_t stride = 1, dilation = 1, groups = 1;
  std::size_t padding = 0, padding_behind = 0;  // zeros before the first and behind the last frame
};

/// torch's conv1d (see convolution.h): x (B, C, F) or (C, F), weight (O, C/groups, K), bias (O) or null
/// -> (B, O, F') or (O, F').
Tensor conv1d(const TensorView& x, const TensorView& weight, const TensorView* bias,
              const ConvolutionOptions& options);

}  // namespace clearformer
