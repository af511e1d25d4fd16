// Steps of optimisers, elementwise on weights, their gradients and the optimiser's state.
#pragma once

#include <cstddef>

#include "clearformer/simd/dispatch.h"

namespace clearformer::kernels {

/// AdamW: w = decay·w;  m += (g - m)·mean_share;  v = square_keep·v + square_share·g²
///        w = w - step·m / (√v / root + eps)
struct AdamWStep {
  float* weight = nullptr;
  const float* gradient = nullptr;
  float* mean = nullptr;    // m
  float* square = nullptr;  // v
  std::size_t count = 0;
  float decay = 1.0f;                             // 1 - learning rate · weight decay
  float mean_share = 0.0f;                        // 1 - β₁
  float square_keep = 0.0f, square_share = 0.0f;  // β₂, 1 - β₂
  float step = 0.0f;                              // learning rate / (1 - β₁ᵗ)
  float root = 1.0f;                              // √(1 - β₂ᵗ)
  float eps = 0.0f;
};
CLEARFORMER_KERNEL(void, adamw_step, const AdamWStep& args)

/// SGD: g += weight_decay·w;  with momentum: v = keep·v + share·g, and g = v, or with nesterov g += keep·v
///      w = w - rate·g
struct SgdStep {
  float* weight = nullptr;
  const float* gradient = nullptr;
  float* velocity = nullptr;  // v; null without momentum
  std::size_t count = 0;
  float rate = 0.0f, weight_decay = 0.0f;
  float keep = 0.0f, share = 1.0f;  // momentum; 1 - dampening, at the first step 1
  bool nesterov = false;
};
CLEARFORMER_KERNEL(void, sgd_step, const SgdStep& args)

}  // namespace clearformer::kernels
