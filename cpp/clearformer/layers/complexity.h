// Complexity: the cost of one layer that maps n vectors of size d to n vectors of size d, and the path length between
// two positions.
//   layer                          work         sequential   maximum path length
//   self-attention                 O(n²·d)      O(1)         O(1)
//   recurrent                      O(n·d²)      O(n)         O(n)
//   convolutional, kernel k        O(k·n·d²)    O(1)         O(n/k), dilated O(log_k n)
//   self-attention to r neighbours O(r·n·d)     O(1)         O(n/r)
// Source: Vaswani et al. 2017, section 4 and table 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace clearformer {

/// The layers of the paper's table.
enum class LayerKind {
  self_attention,
  recurrent,
  convolutional,
  dilated_convolutional,
  restricted_self_attention,
};

/// The sizes of a layer.
struct LayerSize {
  std::size_t sequence_length = 0;  // n
  std::size_t d_model = 0;          // d
  std::size_t kernel_size = 0;      // k, of the convolutions
  std::size_t neighbourhood = 0;    // r, of restricted self-attention
};

/// The cost of a layer: multiply-adds, sequential steps and the longest path between two positions.
struct Complexity {
  /// Exact, without biases and nonlinearities:
  ///   self-attention  2·n²·d: Q·Kᵀ and the weights times V
  ///   recurrent       2·n·d²: W_h·h and W_x·x at each step
  ///   convolutional   k·n·d²: zero padding included
  ///   restricted      2·min(r, n)·n·d
  std::uint64_t multiply_adds = 0;
  /// Projections of queries, keys, values and output, 4·n·d², which the paper's table omits; 0 for layers without
  /// them.
  std::uint64_t projection_multiply_adds = 0;
  /// Steps that depend on the previous one: n for the recurrent layer, otherwise 1.
  std::uint64_t sequential_operations = 0;
  /// Layers (recurrent: steps) between any two positions: 1, n, ⌈n/k⌉, ⌈log_k n⌉ or ⌈n/r⌉, at least 1.
  std::uint64_t maximum_path_length = 0;

  std::string_view work;         // "O(n²·d)"
  std::string_view sequential;   // "O(1)"
  std::string_view path_length;  // "O(1)"
};

/// Throws invalid_argument for a size of 0, for a kernel or neighbourhood of a single position, and for counts beyond
/// 2^64.
Complexity complexity(LayerKind kind, const LayerSize& size);

}  // namespace clearformer
