// Mask: which keys a query may attend to, and what is added to its scores.
//   masked(t, s) = -inf where key s is not allowed for query t, else score(t, s) + additive(t, s)
// Masking is additive, before softmax: exp(-inf) = 0. (Multiplying scores by a matrix of ones and
// -inf, as some lecture notes print, is wrong: it flips with the sign of the score.)
// Upstream libraries disagree on what "true" means, so a mask is made by a maker that says it.
// Shapes: B batch, H heads, T queries, S keys; a mask broadcasts from the right to (B, H, T, S).
#pragma once

#include <limits>
#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// Which keys each query may attend to, or what is added to their scores.
class Mask {
 public:
  /// No restriction.
  Mask() = default;

  /// true (non-zero) = attend, as torch scaled_dot_product_attention and Hugging Face have it. uint8.
  static Mask allow(Tensor allowed);
  /// true (non-zero) = ignore, as torch.nn.MultiheadAttention has it. uint8.
  static Mask ignore(Tensor ignored);
  /// Added to the scores. float32.
  static Mask additive(Tensor values);
  /// Query t sees the keys 0 … t + past, where `past` keys were there before the first query.
  static Mask causal(std::size_t past = 0);
  /// Query t sees the keys from `before` positions before its own place t + past to `after` behind.
  static Mask window(std::size_t past, std::size_t before, std::size_t after);
  /// The first n keys, n per sequence (B) or per query (B, T). int32.
  static Mask valid_lens(Tensor lengths);

  /// Both restrictions at once; additive terms add up.
  Mask operator&(const Mask& other) const;

  /// The mask for operands without a head axis (…, B, T, S): terms of rank 3 get one.
  Mask without_heads() const;
  /// The mask for leading axes folded into one batch axis: terms that have such axes are repeated to
  /// `leading` (all axes but heads, queries and keys) and folded likewise.
  Mask folded(const Shape& leading) const;

  /// Throws shape_mismatch, with `operation` in front, when a term does not broadcast to (B, H, T, S).
  void check(std::string_view operation, std::size_t batch, std::size_t heads, std::size_t queries,
             std::size_t keys) const;

  /// One more than the last key that any query up to `query` may see, as far as causality tells.
  std::size_t key_limit(std::size_t query, std::size_t keys) const;

  /// The first key that `query` or any behind it may see, as far as windows tell.
  std::size_t first_key(std::size_t query) const;
  /// Whether the queries first … last see all of the keys first_key … first_key + keys - 1, with
  /// nothing added to their scores.
  bool is_open(std::size_t first, std::size_t last, std::size_t first_key, std::size_t keys) const;

  /// Masks a piece of a row of scores in place: those of the keys first_key … first_key + keys - 1.
  void apply(std::size_t batch, std::size_t head, std::size_t query, float* scores,
             std::size_t keys, std::size_t first_key = 0) const;

 private:
  enum class Kind { allow, ignore, additive, valid_lens };
  struct Term {
    Kind kind;
    std::shared_ptr<const Tensor> values;
  };
  static Mask of(Kind kind, Tensor values, DType dtype);
  static std::size_t offset(const Shape& shape, std::size_t batch, std::size_t head,
                            std::size_t query);
  static void apply(const Term& term, std::size_t at, float* scores, std::size_t keys,
                    std::size_t first_key);

  // Query t sees the keys t + lower_ … t + upper_.
  std::int64_t lower_ = std::numeric_limits<std::int32_t>::min();
  std::int64_t upper_ = std::numeric_limits<std::int32_t>::max();
  std::vector<Term> terms_;
};

}  // namespace clearformer
