// Shape: the extents of a tensor, outermost first, row-major.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>

#include "clearformer/tensor/error.h"

namespace clearformer {

/// The sizes of a tensor's axes, outermost first.
class Shape {
 public:
  static constexpr std::size_t kMaxRank = 8;

  Shape() = default;
  constexpr Shape(std::initializer_list<std::size_t> dims) {
    for (const std::size_t dim : dims) append(dim);
  }

  constexpr void append(std::size_t dim) {
    if (rank_ == kMaxRank) fail(ErrorCode::unsupported, "shape: more than 8 dimensions");
    dims_[rank_++] = dim;
  }

  std::size_t rank() const { return rank_; }
  std::size_t operator[](std::size_t axis) const { return dims_[axis]; }
  std::size_t& operator[](std::size_t axis) { return dims_[axis]; }
  /// The extent counted from the end: back(0) is that of the innermost axis.
  std::size_t back(std::size_t from_end) const { return dims_[rank_ - 1 - from_end]; }
  const std::size_t* begin() const { return dims_.data(); }
  const std::size_t* end() const { return dims_.data() + rank_; }

  /// Number of elements; 1 for a scalar (rank 0). Throws out_of_memory if it does not fit size_t.
  std::size_t elements() const {
    std::size_t count = 1;
    for (const std::size_t dim : *this) {
      if (__builtin_mul_overflow(count, dim, &count)) {
        fail(ErrorCode::out_of_memory, "shape ", text(), " has more elements than memory can hold");
      }
    }
    return count;
  }

  /// Product of all extents but the last `count`: the number of rows, matrices, …
  std::size_t outer(std::size_t count) const {
    std::size_t product = 1;
    for (std::size_t axis = 0; axis + count < rank_; ++axis) product *= dims_[axis];
    return product;
  }

  /// The indices of an element, one an axis, counted row by row.
  Shape index_of(std::size_t element) const {
    Shape index = *this;
    for (std::size_t axis = rank_; axis-- > 0; element /= dims_[axis]) {
      index[axis] = element % dims_[axis];
    }
    return index;
  }

  bool operator==(const Shape& other) const {
    if (rank_ != other.rank_) return false;
    for (std::size_t axis = 0; axis < rank_; ++axis) {
      if (dims_[axis] != other.dims_[axis]) return false;
    }
    return true;
  }

  /// "[2, 7, 64]".
  std::string text() const {
    std::string joined = "[";
    for (std::size_t axis = 0; axis < rank_; ++axis) {
      if (axis != 0) joined += ", ";
      joined += std::to_string(dims_[axis]);
    }
    return joined + "]";
  }

 private:
  std::array<std::size_t, kMaxRank> dims_{};
  std::size_t rank_ = 0;
};

}  // namespace clearformer
