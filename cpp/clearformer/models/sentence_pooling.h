// Sentence pooling: reduces one vector per token to one per text, as defined by sentence-transformers. With w_t = 1
// for tokens of the text and 0 for padding:
//   cls, last_token = the first and the last x_t with w_t = 1,  max = max_t x_t,  mean = Σ w_t·x_t / Σ w_t,
//   mean_sqrt_len_tokens = Σ w_t·x_t / √(Σ w_t),  weightedmean = Σ t·w_t·x_t / Σ t·w_t (t from 1)
// Backward, dy of y: dx_t = dy·w_t / Σ w_t of a mean (alike for its variants); all of dy goes to the one token of cls and
// last_token, and of max to the first of the largest, as torch. Of y = x / max(‖x‖, 1e-12): dx = (dy - y·(y·dy)) / ‖x‖,
// for shorter x dy / 1e-12.
// Source: Reimers & Gurevych 2019, arXiv 1908.10084, section 3; sentence_transformers.models.Pooling.
// Shapes: x (B, T, D), mask (B, T), y (B, modes·D).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// The pooling modes of Hugging Face sentence-transformers.
enum class PoolingMode { cls, max, mean, mean_sqrt_len, weighted_mean, last_token };

/// The mode of that name (as above), or nullopt.
std::optional<PoolingMode> pooling_mode_named(std::string_view name);

/// The vectors of all modes, concatenated in their order. mask: (B, T) uint8, 0 = padding; none: no padding. For a
/// text without tokens every mean is taken over length 0, cls is the first vector and max -infinity. Throws
/// shape_mismatch if x is not (B, T, D) or the mask does not fit it, invalid_argument without modes.
Tensor sentence_pooling(const TensorView& x, const std::optional<TensorView>& mask,
                        std::span<const PoolingMode> modes);

/// The gradient of x (B, T, D) from that of sentence_pooling(x, mask, modes), d_embedding (B, modes·D). Throws like that.
Tensor sentence_pooling_backward(const TensorView& x, const std::optional<TensorView>& mask,
                                 std::span<const PoolingMode> modes, const TensorView& d_embedding);

/// x / max(‖x‖, 1e-12) for every vector along the last axis, as torch.nn.functional.normalize.
Tensor unit_vectors(const TensorView& x);

/// The gradient of x from that of unit_vectors(x), of the same shape.
Tensor unit_vectors_backward(const TensorView& x, const TensorView& d_unit);

}  // namespace clearformer
