// KeyValueCache: keys and values of past positions, in the panels that matmul reads, so that attention needs no copy.
// Capacity grows by doubling.
// Shapes: B batch, S positions, G key/value heads, d head size, W panel width.
#pragma once

#include <span>
#include <vector>

#include "clearformer/layers/heads.h"
#include "clearformer/tensor/arena.h"

namespace clearformer {

/// Keys and values of one layer in the layout of attention. For each (batch, head):
///   keys    panels of W positions: position s, dimension i at (s / W · d + i) · W + s % W
///   values  panels of W dimensions: position s, dimension i at (i / W · capacity + s) · W + i % W
class PackedKeyValues {
 public:
  /// All sizes except the number of positions.
  struct Sizes {
    std::size_t batch = 0, heads = 0, key_dim = 0, value_dim = 0;
    bool operator==(const Sizes&) const = default;
  };

  PackedKeyValues() = default;
  PackedKeyValues(const Sizes& sizes, std::size_t capacity, float* keys, float* values);

  /// Number of floats for `capacity` positions (a multiple of W, see rounded).
  static std::size_t key_floats(const Sizes& sizes, std::size_t capacity);
  static std::size_t value_floats(const Sizes& sizes, std::size_t capacity);
  static std::size_t rounded(std::size_t positions);

  const Sizes& sizes() const { return sizes_; }
  std::size_t length() const { return length_; }
  std::size_t capacity() const { return capacity_; }

  /// Packs keys (B, T, G, d) and values (B, T, G, d_v) after those present.
  void append(const Heads& keys, const Heads& values);
  void crop(std::size_t length) { length_ = length; }

  /// Keys from position `first`, a multiple of W, on.
  const float* keys(std::size_t batch, std::size_t head, std::size_t first = 0) const;
  const float* values(std::size_t batch, std::size_t head, std::size_t first = 0) const;
  std::size_t key_panel_stride() const;
  std::size_t value_panel_stride() const;

  /// Copies the sequences `rows` of another store with the same heads; rows may repeat.
  void copy_from(const PackedKeyValues& other, std::span<const std::size_t> rows);
  void append_head(const Heads& keys, const Heads& values, std::size_t batch, std::size_t head);
  /// Copies sequence `from` of a store of the same length to sequence `to`.
  void copy_row(std::size_t to, const PackedKeyValues& other, std::size_t from);

 private:
  Sizes sizes_;
  std::size_t capacity_ = 0;
  std::size_t length_ = 0;
  float* keys_ = nullptr;
  float* values_ = nullptr;
};

/// Owns the stores of all layers; initially empty, sized by the first append. For decoders with
/// cross-attention it also holds the memory: keys and values of the encoder's output.
class KeyValueCache {
 public:
  KeyValueCache(std::size_t layers, std::size_t max_positions)
      : layers_(layers), memory_(layers), max_positions_(max_positions) {}

  std::size_t length() const;
  std::size_t batch() const;
  std::size_t capacity() const;
  std::size_t bytes() const;

  /// The store of a layer with room for `more` positions, reallocated if necessary.
  PackedKeyValues& reserve(std::size_t layer, const PackedKeyValues::Sizes& sizes,
                           std::size_t more);
  /// An empty store for a layer's memory.
  PackedKeyValues& reserve_memory(std::size_t layer, const PackedKeyValues::Sizes& sizes,
                                  std::size_t length);
  /// A layer's memory; null before the first call.
  const PackedKeyValues* memory(std::size_t layer) const;
  bool has_memory() const { return !memory_states.empty() || memory(0) != nullptr; }
  void forget_memory();
  /// The encoder's output (B, S, D), until the decoder's first pass has projected it.
  Tensor memory_states;
  /// Mask of the memory's positions: uint8 (B, S), 0 = padding; empty: no padding.
  Tensor memory_mask;

  /// Drops the positions from `length` on; the memory is kept.
  void crop(std::size_t length);
  /// Replaces sequence i by sequence rows[i] in all stores, to reorder beams or change the batch size. Throws
  /// invalid_argument for a row that does not exist.
  void select(std::span<const std::size_t> rows);

 private:
  struct Layer {
    PackedKeyValues store;
    Tensor keys;
    Tensor values;
  };
  static void allocate(Layer& layer, const PackedKeyValues::Sizes& sizes, std::size_t capacity);
  static void select(Layer& layer, std::span<const std::size_t> rows);

  std::vector<Layer> layers_;
  std::vector<Layer> memory_;
  std::size_t max_positions_;
};

}  // namespace clearformer
