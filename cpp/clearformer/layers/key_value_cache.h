// KeyValueCache: the keys and values of past positions in all layers, and what those without attention keep of them.
// Capacity grows by doubling, but by no more than 256 positions.
// Shapes: B batch, S positions.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "clearformer/layers/packed_key_values.h"
#include "clearformer/layers/position_mixer.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

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
  /// hold the same positions. stack: of these layers; null: all attend.
  bool fits(std::size_t layers, std::size_t heads, std::size_t width, std::size_t first_layer,
            const StackConfig* stack = nullptr) const;

  /// The store of a layer with room for `more` positions, reallocated if necessary.
  PackedKeyValues& reserve(std::size_t layer, const PackedKeyValues::Sizes& sizes,
                           std::size_t more);
  /// The state of a layer without attention; null before its first call.
  std::unique_ptr<PastState>& past(std::size_t layer) { return layers_[layer].past; }
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
  /// unsupported if a layer without attention does not reach back to there (see PastRows, DeltaState).
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
    std::unique_ptr<PastState> past = {};  // without attention

    std::size_t length() const { return past ? past->length() : store.length(); }
    std::size_t batch() const { return past ? past->batch() : store.sizes().batch; }
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
