// KeyValueCache: the keys and values of the positions seen so far, in the panels that matmul reads,
// so that attention over them needs no copy. Grows by doubling.
// Shapes: B batch, S positions, G key/value heads, d head size, W panel width.
#pragma once

#include <span>
#include <vector>

#include "clearformer/layers/heads.h"
#include "clearformer/tensor/arena.h"

namespace clearformer {

/// Keys and values of one layer as attention reads them. For each (batch, head):
///   keys    panels of W positions: position s, dimension i at (s / W · d + i) · W + s % W
///   values  panels of W dimensions: position s, dimension i at (i / W · capacity + s) · W + i % W
class PackedKeyValues {
 public:
  /// All sizes but the number of positions.
  struct Sizes {
    std::size_t batch = 0, heads = 0, key_dim = 0, value_dim = 0;
    bool operator==(const Sizes&) const = default;
  };

  PackedKeyValues() = default;
  PackedKeyValues(const Sizes& sizes, std::size_t capacity, float* keys, float* values);

  /// Floats that `capacity` positions (a multiple of W, see rounded) take.
  static std::size_t key_floats(const Sizes& sizes, std::size_t capacity);
  static std::size_t value_floats(const Sizes& sizes, std::size_t capacity);
  static std::size_t rounded(std::size_t positions);

  const Sizes& sizes() const { return sizes_; }
  std::size_t length() const { return length_; }
  std::size_t capacity() const { return capacity_; }

  /// Packs keys (B, T, G, d) and values (B, T, G, d_v) behind those already there.
  void append(const Heads& keys, const Heads& values);
  void crop(std::size_t length) { length_ = length; }

  /// Those of the positions from `first`, a multiple of W, on.
  const float* keys(std::size_t batch, std::size_t head, std::size_t first = 0) const;
  const float* values(std::size_t batch, std::size_t head, std::size_t first = 0) const;
  std::size_t key_panel_stride() const;
  std::size_t value_panel_stride() const;

  /// Becomes the sequences `rows` of another store, whose heads are the same; one may be named
  /// several times.
  void copy_from(const PackedKeyValues& other, std::span<const std::size_t> rows);
  /// Sequence `to` becomes sequence `from` of a store of as many positions.
  void append_head(const Heads& keys, const Heads& values, std::size_t batch, std::size_t head);
  void copy_row(std::size_t to, const PackedKeyValues& other, std::size_t from);

 private:
  Sizes sizes_;
  std::size_t capacity_ = 0;
  std::size_t length_ = 0;
  float* keys_ = nullptr;
  float* values_ = nullptr;
};

/// Owns the stores of all layers; made empty, sized by the first append. For decoders with
/// cross-attention it also holds the memory: keys and values of the encoder's output.
class KeyValueCache {
 public:
  KeyValueCache(std::size_t layers, std::size_t max_positions)
      : layers_(layers), memory_(layers), max_positions_(max_positions) {}

  std::size_t length() const;
  std::size_t batch() const;
  std::size_t capacity() const;
  std::size_t bytes() const;

  /// The store of a layer with room for `more` positions, moved to a larger one where needed.
  PackedKeyValues& reserve(std::size_t layer, const PackedKeyValues::Sizes& sizes,
                           std::size_t more);
  /// An empty store for the memory of a layer.
  PackedKeyValues& reserve_memory(std::size_t layer, const PackedKeyValues::Sizes& sizes,
                                  std::size_t length);
  /// The memory of a layer; null before the first call.
  const PackedKeyValues* memory(std::size_t layer) const;
  bool has_memory() const { return !memory_states.empty() || memory(0) != nullptr; }
  void forget_memory();
  /// The encoder's output (B, S, D), until the first pass of the decoder has projected it.
  Tensor memory_states;
  /// Which positions of the memory may be attended to: uint8 (B, S), empty for all.
  Tensor memory_mask;

  /// Forgets the positions from `length` on; the memory stays.
  void crop(std::size_t length);
  /// Makes sequence i what sequence rows[i] is now, in all stores: beams that are exchanged, or a
  /// batch that becomes larger or smaller. Throws invalid_argument for a row that is not there.
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
