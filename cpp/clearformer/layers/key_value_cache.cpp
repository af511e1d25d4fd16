#include "clearformer/layers/key_value_cache.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "clearformer/layers/encoder.h"

namespace clearformer {

namespace {
// Positions allocated ahead. Copying a store once in so many tokens takes 1 / kMostSpare of what attention reads of it
// meanwhile, and a long text leaves little unused.
constexpr std::size_t kMostSpare = 256;

// The rows of a tensor (B, …), or nothing of an empty one.
Tensor selected(const Tensor& from, std::span<const std::size_t> rows) {
  if (from.empty()) return {};
  const std::size_t bytes = from.view().bytes() / std::max<std::size_t>(from.dim(0), 1);
  Shape shape = from.shape();
  shape[0] = rows.size();
  Tensor to(shape, from.dtype());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::memcpy(static_cast<char*>(to.data()) + row * bytes,
                static_cast<const char*>(from.data()) + rows[row] * bytes, bytes);
  }
  return to;
}
}  // namespace

std::size_t KeyValueCache::length() const { return layers_.empty() ? 0 : layers_.back().length(); }

std::size_t KeyValueCache::batch() const { return layers_.empty() ? 0 : layers_.back().batch(); }

std::size_t KeyValueCache::capacity() const {
  std::size_t most = length();  // without attention
  for (const Layer& layer : layers_) most = std::max(most, layer.store.capacity());
  return most;
}

std::size_t KeyValueCache::bytes() const {
  std::size_t total = 0;
  for (const std::vector<Layer>* layers : {&layers_, &memory_}) {
    for (const Layer& layer : *layers) {
      total +=
          layer.keys.capacity() + layer.values.capacity() + (layer.past ? layer.past->bytes() : 0);
    }
  }
  return total;
}

PackedKeyValues& KeyValueCache::reserve(std::size_t layer, const PackedKeyValues::Sizes& sizes,
                                        std::size_t more) {
  Layer& entry = layers_[layer];
  const std::size_t length = entry.store.length();
  if (length != 0 && !(entry.store.sizes() == sizes)) {
    fail(ErrorCode::shape_mismatch, "key/value cache: it holds ", entry.store.sizes().batch,
         " sequences of ", entry.store.sizes().heads, " heads, the input has ", sizes.batch, " of ",
         sizes.heads);
  }
  const std::size_t needed = length + more;
  if (needed > max_positions_) {
    fail(ErrorCode::invalid_argument, "key/value cache: ", needed,
         " positions, the model has room for ", max_positions_);
  }
  if (entry.keys.empty() || needed > entry.store.capacity() || length == 0) {
    const std::size_t capacity = entry.store.capacity();
    const std::size_t grown = std::min(capacity + std::min(capacity, kMostSpare), max_positions_);
    Layer larger;
    allocate(larger, sizes, PackedKeyValues::rounded(std::max(needed, grown)));
    if (length != 0) {
      std::vector<std::size_t> all(sizes.batch);
      std::iota(all.begin(), all.end(), std::size_t{0});
      larger.store.copy_from(entry.store, all, length);
    }
    entry = std::move(larger);
  }
  return entry.store;
}

void KeyValueCache::allocate(Layer& layer, const PackedKeyValues::Sizes& sizes,
                             std::size_t capacity) const {
  layer.keys = Tensor({PackedKeyValues::key_bytes(sizes, format_, capacity)}, DType::u8);
  layer.values = Tensor({PackedKeyValues::value_bytes(sizes, format_, capacity)}, DType::u8);
  layer.store = PackedKeyValues(sizes, format_, capacity, layer.keys.data(), layer.values.data());
}

PackedKeyValues& KeyValueCache::reserve_memory(std::size_t layer,
                                               const PackedKeyValues::Sizes& sizes,
                                               std::size_t length) {
  allocate(memory_[layer], sizes, PackedKeyValues::rounded(length));
  return memory_[layer].store;
}

const PackedKeyValues* KeyValueCache::memory(std::size_t layer) const {
  return memory_[layer].store.length() == 0 ? nullptr : &memory_[layer].store;
}

void KeyValueCache::forget_memory() {
  for (Layer& layer : memory_) layer = Layer();
  memory_states = Tensor();
  memory_mask = Tensor();
}

Shape KeyValueCache::memory_shape() const {
  if (!memory_states.empty()) return {memory_states.dim(0), memory_states.dim(1)};
  if (memory_.empty()) return {0, 0};
  const PackedKeyValues& last = memory_.back().store;
  return {last.sizes().batch, last.length()};
}

bool KeyValueCache::fits(std::size_t layers, std::size_t heads, std::size_t width,
                         std::size_t first_layer, const StackConfig* stack) const {
  if (layers_.size() != layers) return false;
  if (!memory_states.empty() && memory_states.shape().rank() != 3) return false;
  const Shape memory = memory_shape();
  if (!memory_mask.empty() && !(memory_mask.shape() == memory)) return false;
  const auto holds = [&](const Layer& layer, std::size_t length, std::size_t batch) {
    return layer.store.length() == length &&
           (length == 0 ||
            layer.store.sizes() == PackedKeyValues::Sizes{batch, heads, width, width});
  };
  for (std::size_t layer = first_layer; layer < layers; ++layer) {
    if (stack != nullptr && !stack->attends(layer)) {
      const PastState* const past = layers_[layer].past.get();
      if (past == nullptr ? length() != 0 : !past->holds(length(), batch(), *stack)) return false;
      continue;
    }
    const bool fits = holds(layers_[layer], length(), batch()) &&
                      holds(memory_[layer], memory_.back().store.length(), memory[0]);
    if (!fits) return false;
  }
  return true;
}

void KeyValueCache::expect(std::span<const std::size_t> rows, std::size_t length) const {
  if (length > this->length()) {
    fail(ErrorCode::invalid_argument, "key/value cache: there are no ", length,
         " positions, it holds ", this->length());
  }
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    if (const auto& past = layers_[layer].past) past->expect_reach(length, layer);
  }
  const Shape memory = memory_shape();
  const std::size_t sequences = memory[1] == 0 ? batch() : memory[0];
  for (const std::size_t row : rows) {
    if (row >= sequences) {
      fail(ErrorCode::invalid_argument, "key/value cache: there is no sequence ", row,
           ", it holds ", sequences);
    }
  }
}

void KeyValueCache::crop(std::size_t length) {
  expect({}, length);
  for (Layer& layer : layers_) {
    layer.store.crop(std::min(length, layer.store.length()));
    if (layer.past) layer.past->crop(length);
  }
}

void KeyValueCache::select(Layer& layer, std::span<const std::size_t> rows) const {
  PackedKeyValues::Sizes sizes = layer.store.sizes();
  if (layer.past) {
    layer.past = layer.past->part(rows, layer.past->length(), kMostSpare);
    return;
  }
  if (layer.store.length() == 0) {  // its memory is allocated with the first position
    if (sizes.batch == 0) return;
    layer = Layer();
    sizes.batch = rows.size();
    layer.store = PackedKeyValues(sizes, format_, 0, nullptr, nullptr);
    return;
  }
  if (rows.size() != sizes.batch) {
    Layer selected;
    sizes.batch = rows.size();
    allocate(selected, sizes, layer.store.capacity());
    selected.store.copy_from(layer.store, rows, layer.store.length());
    layer = std::move(selected);
    return;
  }
  // In place, through a copy of the rows that change: most beams keep their row.
  std::vector<std::size_t> moved, from;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row] == row) continue;
    moved.push_back(row);
    from.push_back(rows[row]);
  }
  if (moved.empty()) return;
  Layer copies;
  sizes.batch = moved.size();
  allocate(copies, sizes, PackedKeyValues::rounded(layer.store.length()));
  copies.store.copy_from(layer.store, from, layer.store.length());
  for (std::size_t i = 0; i < moved.size(); ++i) layer.store.copy_row(moved[i], copies.store, i);
}

void KeyValueCache::select(std::span<const std::size_t> rows) {
  expect(rows, 0);
  for (std::vector<Layer>* layers : {&layers_, &memory_}) {
    for (Layer& layer : *layers) select(layer, rows);
  }
  memory_states = selected(memory_states, rows);
  memory_mask = selected(memory_mask, rows);
}

KeyValueCache KeyValueCache::copy(const Part& part, std::size_t more) const {
  expect(part.rows, part.length);
  if (part.first_layer >= layers_.size()) {
    fail(ErrorCode::invalid_argument, "key/value cache: there is no layer ", part.first_layer);
  }
  KeyValueCache result(layers_.size(), max_positions_, format_);
  more = std::min(more, max_positions_ - part.length);
  const auto take = [&](const Layer& from, Layer& to, std::size_t length, std::size_t room) {
    if (from.past) to.past = from.past->part(part.rows, length, room);
    if (from.store.length() == 0) return;
    PackedKeyValues::Sizes sizes = from.store.sizes();
    sizes.batch = part.rows.size();
    allocate(to, sizes, PackedKeyValues::rounded(length + room));
    to.store.copy_from(from.store, part.rows, length);
  };
  for (std::size_t layer = part.first_layer; layer < layers_.size(); ++layer) {
    take(layers_[layer], result.layers_[layer], part.length, more);
    take(memory_[layer], result.memory_[layer], memory_[layer].store.length(), 0);
  }
  result.memory_states = selected(memory_states, part.rows);
  result.memory_mask = selected(memory_mask, part.rows);
  return result;
}

}  // namespace clearformer
