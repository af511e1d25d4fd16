// Mask: which keys a query may attend to, and biases added to its scores.
//   masked(t, s) = -inf where key s is not allowed for query t, else score(t, s) + additive(t, s)
// Masking is additive, before softmax: exp(-inf) = 0. (Multiplying scores by a matrix of ones and
// -inf, as printed in some lecture notes, is wrong: the sign of the score decides the result.)
// Upstream libraries disagree on the meaning of true, so a mask is made by a named constructor.
// Shapes: B batch, H heads, T queries, S keys; a mask broadcasts from the right to (B, H, T, S).
#pragma once

#include <limits>
#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// Which keys each query may attend to, and biases added to its scores.
class Mask {
 public:
  /// No restriction.
  Mask() = default;

  /// Non-zero = attend, as in torch's scaled_dot_product_attention and Hugging Face. uint8.
  static Mask allow(Tensor allowed);
  /// Non-zero = ignore, as in torch.nn.MultiheadAttention. uint8.
  static Mask ignore(Tensor ignored);
  /// A bias added to the scores. float32.
  static Mask additive(Tensor values);
  /// Query t attends to the keys 0 … t + past, with `past` keys before the first query.
  static Mask causal(std::size_t past = 0);
  /// Query t, at position t + past, attends to the keys from `before` positions before to `after` positions after it.
  static Mask window(std::size_t past, std::size_t before, std::size_t after);
  /// The first n keys, n per sequence (B) or per query (B, T). int32.
  static Mask valid_lens(Tensor lengths);

  /// Both restrictions combined; additive terms are summed.
  Mask operator&(const Mask& other) const;

  /// The mask for operands without a head axis (…, B, T, S): terms of rank 3 get a head axis.
  Mask without_heads() const;
  /// The mask for leading axes folded into one batch axis: terms with such axes are broadcast to
  /// `leading` (all axes but heads, queries and keys) and folded likewise.
  Mask folded(const Shape& leading) const;

  /// Throws shape_mismatch, prefixed with `operation`, if a term does not broadcast to (B, H, T, S).
  void check(std::string_view operation, std::size_t batch, std::size_t heads, std::size_t queries,
             std::size_t keys) const;

  /// One past the last key that any query up to `query` may attend to, considering causality only.
  std::size_t key_limit(std::size_t query, std::size_t keys) const;

  /// The first key that `query` or any later one may attend to, considering windows only.
  std::size_t first_key(std::size_t query) const;
  /// Whether the queries first … last attend to all of the keys first_key … first_key + keys - 1, without any bias.
  bool is_open(std::size_t first, std::size_t last, std::size_t first_key, std::size_t keys) const;

  /// Masks part of a row of scores in place: those of the keys first_key … first_key + keys - 1.
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

  // Query t attends to the keys t + lower_ … t + upper_.
  std::int64_t lower_ = std::numeric_limits<std::int32_t>::min();
  std::int64_t upper_ = std::numeric_limits<std::int32_t>::max();
  std::vector<Term> terms_;
};

}  // namespace clearformer
