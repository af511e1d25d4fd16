#include "clearformer/layers/complexity.h"

#include <algorithm>
#include <initializer_list>

#include "clearformer/tensor/error.h"

namespace clearformer {

namespace {

std::uint64_t product(std::initializer_list<std::uint64_t> factors) {
  std::uint64_t result = 1;
  for (const std::uint64_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) {
      fail(ErrorCode::invalid_argument, "complexity: the count of multiply-adds exceeds 2^64");
    }
  }
  return result;
}

void require_positive(std::size_t value, const char* name) {
  if (value == 0) fail(ErrorCode::invalid_argument, "complexity: ", name, " must be at least 1");
}

// Requires a window of more than one position, unless there is only one.
void require_window(std::size_t window, std::size_t n, const char* name) {
  require_positive(window, name);
  if (window == 1 && n > 1) {
    fail(ErrorCode::invalid_argument, "complexity: ", name, " 1 joins no two of ", n,
         " positions, it must be at least 2");
  }
}

std::uint64_t ceil_divide(std::uint64_t n, std::uint64_t by) { return n / by + (n % by != 0); }

// ⌈log_k n⌉, at least 1: the number of layers, dilated by a factor of k each, that span n positions.
std::uint64_t layers_to_span(std::uint64_t n, std::uint64_t k) {
  std::uint64_t layers = 1;
  for (std::uint64_t span = k; span < n; ++layers) span = span > n / k ? n : span * k;
  return layers;
}

}  // namespace

Complexity complexity(LayerKind kind, const LayerSize& size) {
  const std::uint64_t n = size.sequence_length, d = size.d_model;
  const std::uint64_t k = size.kernel_size, r = size.neighbourhood;
  require_positive(size.sequence_length, "the sequence length");
  require_positive(size.d_model, "the dimension");
  const auto projections = [&] { return product({4, n, d, d}); };
  switch (kind) {
    case LayerKind::self_attention:
      return {product({2, n, n, d}), projections(), 1, 1, "O(n²·d)", "O(1)", "O(1)"};
    case LayerKind::recurrent: return {product({2, n, d, d}), 0, n, n, "O(n·d²)", "O(n)", "O(n)"};
    case LayerKind::convolutional:
      require_window(size.kernel_size, size.sequence_length, "kernel size");
      return {product({k, n, d, d}), 0, 1, ceil_divide(n, k), "O(k·n·d²)", "O(1)", "O(n/k)"};
    case LayerKind::dilated_convolutional:
      require_window(size.kernel_size, size.sequence_length, "kernel size");
      return {product({k, n, d, d}), 0, 1, layers_to_span(n, k), "O(k·n·d²)", "O(1)", "O(log_k n)"};
    case LayerKind::restricted_self_attention: {
      require_window(size.neighbourhood, size.sequence_length, "neighbourhood");
      const std::uint64_t work = product({2, std::min(r, n), n, d});
      return {work, projections(), 1, ceil_divide(n, r), "O(r·n·d)", "O(1)", "O(n/r)"};
    }
  }
  fail(ErrorCode::invalid_argument, "complexity: unknown kind of layer");
}

}  // namespace clearformer
