// KeyValueCache: the keys and values of past positions in all layers, and of those that are convolutions the last inputs.
// Capacity grows by doubling, but by no more than 256 positions.
// Shapes: B batch, S positions.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "clearformer/layers/packed_key_values.h"
#include "clearformer/layers/past_rows.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

enum class Mixer;  // of encoder.h

/// Owns the stores of all layers; initially empty, sized by the first append. For decoders with
/// cross-attention it also holds the memory: keys and values of the encoder's output.
class KeyValueCache {
 public:
  KeyValueCache(std::size_t layers, std::size_t max_positions,
                CacheFormat format = CacheFormat::f32)
      : layers_(room_for(layers)),
        memory_(layers),
        max_positions_(max_positions),
        format_(format) {}

  CacheFormat format() const { return format_; }
  std::size_t length() const;
  std::size_t batch() const;
  std::size_t capacity() const;
  std::size_t bytes() const;

  /// (B, S) of the memory.
  Shape memory_shape() const;
  /// Whether it is that of a model with these sizes, and of a pass that begins at `first_layer`: from there on all layers
  /// hold the same positions. mixers: of the layers (none: all attend); channels: of those that are convolutions.
  bool fits(std::size_t layers, std::size_t heads, std::size_t width, std::size_t first_layer,
            std::span<const Mixer> mixers = {}, std::size_t channels = 0) const;

  /// The store of a layer with room for `more` positions, reallocated if necessary.
  PackedKeyValues& reserve(std::size_t layer, const PackedKeyValues::Sizes& sizes,
                           std::size_t more);
  /// The inputs of a layer that is a convolution.
  PastRows& past_rows(std::size_t layer) { return layers_[layer].inputs; }
  /// An empty store for a layer's memory.
  PackedKeyValues& reserve_memory(std::size_t layer, const PackedKeyValues::Sizes& sizes,
                                  std::size_t length);
  /// A layer's memory; null before the first call.
  const PackedKeyValues* memory(std::size_t layer) const;
  bool has_memory() const {
    return !memory_states.empty() || (!memory_.empty() && memory(memory_.size() - 1) != nullptr);
  }
  void forget_memory();
  /// The encoder's output (B, S, D), until the decoder's first pass has projected it.
  Tensor memory_states;
  /// Mask of the memory's positions: uint8 (B, S), 0 = padding; empty: no padding.
  Tensor memory_mask;

  /// Drops the positions from `length` on; the memory is kept. Throws invalid_argument if there are not so many, and
  /// unsupported if a convolution does not reach back to there (see PastRows).
  void crop(std::size_t length);
  /// Replaces sequence i by sequence rows[i] in all stores, to reorder beams or change the batch size. Throws
  /// invalid_argument for a row that does not exist.
  void select(std::span<const std::size_t> rows);

  /// What copy() takes: sequences, which may repeat, the number of their positions, the first of the layers (the others
  /// stay empty: for passes that start there).
  struct Part {
    std::vector<std::size_t> rows;
    std::size_t length = 0;
    std::size_t first_layer = 0;
  };
  /// A part of it with room for `more` positions, at most those of the model. Throws invalid_argument for what it does
  /// not hold, unsupported as crop().
  KeyValueCache copy(const Part& part, std::size_t more) const;

 private:
  struct Layer {
    PackedKeyValues store;
    Tensor keys;
    Tensor values;
    PastRows inputs;  // of a convolution

    std::size_t length() const { return store.length() + inputs.length(); }
    std::size_t batch() const { return std::max(store.sizes().batch, inputs.batch()); }
  };
  void allocate(Layer& layer, const PackedKeyValues::Sizes& sizes, std::size_t capacity) const;
  void select(Layer& layer, std::span<const std::size_t> rows) const;
  void expect(std::span<const std::size_t> rows, std::size_t length) const;

  std::vector<Layer> layers_;
  std::vector<Layer> memory_;
  std::size_t max_positions_;
  CacheFormat format_;
};

}  // namespace clearformer
