// Sentence pooling: from a vector for every token to one for the text, as sentence-transformers defines
// it. With w_t = 1 for tokens of the text and 0 for padding:
//   cls = x_1,  max = max_t x_t,  mean = Σ w_t·x_t / Σ w_t,  mean_sqrt_len_tokens = Σ w_t·x_t / √(Σ w_t),
//   weightedmean = Σ t·w_t·x_t / Σ t·w_t (t from 1),  last_token = the last x_t with w_t = 1
// Source: Reimers & Gurevych 2019, arXiv 1908.10084, section 3; sentence_transformers.models.Pooling.
// Shapes: x (B, T, D), mask (B, T), y (B, modes·D).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// Hugging Face sentence-transformers' ways to make one vector of a sequence's.
enum class PoolingMode { cls, max, mean, mean_sqrt_len, weighted_mean, last_token };

/// The mode of that name (as above), or nothing.
std::optional<PoolingMode> pooling_mode_named(std::string_view name);

/// The vectors of all modes joined, in their order. mask: (B, T) uint8, 0 = padding; none: no padding. A text
/// without a token has length 0 in every mean. Throws shape_mismatch when x is not (B, T, D) or the mask does
/// not fit it, invalid_argument without modes.
Tensor sentence_pooling(const TensorView& x, const std::optional<TensorView>& mask,
                        std::span<const PoolingMode> modes);

/// x / ‖x‖ for every vector of the last axis; vectors of zeros stay.
Tensor unit_vectors(const TensorView& x);

}  // namespace clearformer
