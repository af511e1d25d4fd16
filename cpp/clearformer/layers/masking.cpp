#include "clearformer/layers/masking.h"

#include <algorithm>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/hiding.h"

namespace clearformer {

namespace {
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// A number of positions; beyond any sequence's it makes no difference.
std::int64_t positions(std::size_t count) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(count, kMost));
}
}  // namespace

Mask Mask::of(Kind kind, Tensor values, DType dtype) {
  if (values.dtype() != dtype) {
    fail(ErrorCode::dtype_mismatch, "mask: values are ", to_string(values.dtype()), ", expected ",
         to_string(dtype));
  }
  Mask mask;
  mask.terms_.push_back({kind, std::make_shared<const Tensor>(std::move(values))});
  return mask;
}

Mask Mask::allow(Tensor allowed) { return of(Kind::allow, std::move(allowed), DType::u8); }
Mask Mask::ignore(Tensor ignored) { return of(Kind::ignore, std::move(ignored), DType::u8); }
Mask Mask::additive(Tensor values) { return of(Kind::additive, std::move(values), DType::f32); }

Mask Mask::causal(std::size_t past) {
  Mask mask;
  mask.upper_ = positions(past);
  return mask;
}

Mask Mask::window(std::size_t past, std::size_t before, std::size_t after) {
  Mask mask;
  mask.lower_ = positions(past) - positions(before);
  mask.upper_ = positions(past) + positions(after);
  return mask;
}

Mask Mask::valid_lens(Tensor lengths) {
  return of(Kind::valid_lens, std::move(lengths), DType::i32);
}

Mask Mask::operator&(const Mask& other) const {
  Mask both = *this;
  both.terms_.insert(both.terms_.end(), other.terms_.begin(), other.terms_.end());
  both.lower_ = std::max(lower_, other.lower_);
  both.upper_ = std::min(upper_, other.upper_);
  return both;
}

Mask Mask::without_heads() const {
  Mask mask = *this;
  for (Term& term : mask.terms_) {
    const Shape& shape = term.values->shape();
    if (term.kind == Kind::valid_lens || shape.rank() != 3) continue;
    Tensor values = term.values->clone();
    values.reshape({shape[0], 1, shape[1], shape[2]});
    term.values = std::make_shared<const Tensor>(std::move(values));
  }
  return mask;
}

Mask Mask::folded(const Shape& leading) const {
  Mask mask = *this;
  for (Term& term : mask.terms_) {
    const Shape& shape = term.values->shape();
    const bool same_for_all = shape.rank() < 4 || (shape.rank() == 4 && shape[0] == 1);
    if (term.kind == Kind::valid_lens || same_for_all || leading.rank() < 2) continue;
    Shape full = leading;
    for (std::size_t axis = 3; axis-- > 0;) full.append(shape.back(axis));
    Tensor values = broadcast_to(*term.values, full);
    values.reshape({leading.elements(), shape.back(2), shape.back(1), shape.back(0)});
    term.values = std::make_shared<const Tensor>(std::move(values));
  }
  return mask;
}

void Mask::check(std::string_view operation, std::size_t batch, std::size_t heads,
                 std::size_t queries, std::size_t keys) const {
  for (const Term& term : terms_) {
    const Shape& shape = term.values->shape();
    const bool lengths = term.kind == Kind::valid_lens;
    const Shape full = lengths ? Shape{batch, queries} : Shape{batch, heads, queries, keys};
    bool fits = lengths ? (shape.rank() == 1 || shape.rank() == 2) : shape.rank() <= full.rank();
    if (lengths) {
      fits = fits && shape[0] == batch && (shape.rank() == 1 || shape[1] == queries);
    } else {
      for (std::size_t axis = 0; fits && axis < shape.rank(); ++axis) {
        fits = shape.back(axis) == full.back(axis) || shape.back(axis) == 1;
      }
    }
    if (!fits) {
      fail(ErrorCode::shape_mismatch, operation, lengths ? ": valid_lens" : ": mask", " of shape ",
           shape.text(), " does not fit ", full.text(),
           lengths ? " (batch, queries)" : " (batch, heads, queries, keys)");
    }
  }
}

std::size_t Mask::key_limit(std::size_t query, std::size_t keys) const {
  const std::int64_t limit = static_cast<std::int64_t>(query) + upper_ + 1;
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(limit, 0, static_cast<std::int64_t>(keys)));
}

// Offset of the row's first element in a tensor that broadcasts from the right to (B, H, T, S).
std::size_t Mask::offset(const Shape& shape, std::size_t batch, std::size_t head,
                         std::size_t query) {
  const std::size_t index[3] = {query, head, batch};
  std::size_t at = 0;
  std::size_t stride = shape.rank() == 0 ? 1 : shape.back(0);
  for (std::size_t axis = 1; axis < shape.rank(); ++axis) {
    if (shape.back(axis) != 1) at += index[axis - 1] * stride;
    stride *= shape.back(axis);
  }
  return at;
}

std::size_t Mask::first_key(std::size_t query) const {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(static_cast<std::int64_t>(query) + lower_, 0));
}

bool Mask::is_open(std::size_t first, std::size_t last, std::size_t first_key,
                   std::size_t keys) const {
  const std::size_t end = first_key + keys;
  return terms_.empty() && key_limit(first, end) == end && this->first_key(last) <= first_key;
}

void Mask::apply(const Term& term, std::size_t at, float* scores, std::size_t keys,
                 std::size_t first_key) {
  const Shape& shape = term.values->shape();
  const bool one_for_all = shape.rank() == 0 || shape.back(0) == 1;
  if (!one_for_all) at += first_key;
  if (term.kind == Kind::additive) {
    const float* value = term.values->f32() + at;
    if (!one_for_all) return kernels::add(scores, value, scores, keys);
    for (std::size_t key = 0; key < keys; ++key) scores[key] += *value;
    return;
  }
  const std::uint8_t* flag = term.values->view().as<std::uint8_t>() + at;
  const std::uint8_t hidden = term.kind == Kind::ignore ? 1 : 0;
  if (!one_for_all) return kernels::hide_where(scores, flag, keys, hidden);
  if ((*flag != 0) == (hidden != 0)) std::fill_n(scores, keys, kMinusInfinity);
}

void Mask::apply(std::size_t batch, std::size_t head, std::size_t query, float* scores,
                 std::size_t keys, std::size_t first_key) const {
  // Number of keys before position `limit`.
  const auto before = [&](std::int64_t limit) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(
        limit - static_cast<std::int64_t>(first_key), 0, static_cast<std::int64_t>(keys)));
  };
  const auto hide_from = [&](std::int64_t limit) {
    std::fill(scores + before(limit), scores + keys, kMinusInfinity);
  };
  for (const Term& term : terms_) {
    const Shape& shape = term.values->shape();
    if (term.kind == Kind::valid_lens) {
      const std::size_t row = shape.rank() == 1 ? batch : batch * shape[1] + query;
      hide_from(term.values->view().as<std::int32_t>()[row]);
    } else {
      apply(term, offset(shape, batch, head, query), scores, keys, first_key);
    }
  }
  const auto place = static_cast<std::int64_t>(query);
  std::fill_n(scores, before(place + lower_), kMinusInfinity);
  hide_from(place + upper_ + 1);
}

}  // namespace clearformer
