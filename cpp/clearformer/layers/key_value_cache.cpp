#include "clearformer/layers/key_value_cache.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "clearformer/kernels/matmul.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

std::size_t panels_of(std::size_t columns) {
  const std::size_t width = kernels::panel_width();
  return (columns + width - 1) / width;
}

}  // namespace

PackedKeyValues::PackedKeyValues(const Sizes& sizes, std::size_t capacity, float* keys,
                                 float* values)
    : sizes_(sizes), capacity_(capacity), keys_(keys), values_(values) {}

std::size_t PackedKeyValues::rounded(std::size_t positions) {
  return panels_of(positions) * kernels::panel_width();
}

std::size_t PackedKeyValues::key_floats(const Sizes& sizes, std::size_t capacity) {
  return sizes.batch * sizes.heads * capacity * sizes.key_dim;
}

std::size_t PackedKeyValues::value_floats(const Sizes& sizes, std::size_t capacity) {
  return sizes.batch * sizes.heads * capacity * rounded(sizes.value_dim);
}

std::size_t PackedKeyValues::key_panel_stride() const {
  return sizes_.key_dim * kernels::panel_width();
}

std::size_t PackedKeyValues::value_panel_stride() const {
  return capacity_ * kernels::panel_width();
}

const float* PackedKeyValues::keys(std::size_t batch, std::size_t head, std::size_t first) const {
  return keys_ + ((batch * sizes_.heads + head) * capacity_ + first) * sizes_.key_dim;
}

const float* PackedKeyValues::values(std::size_t batch, std::size_t head, std::size_t first) const {
  return values_ + (batch * sizes_.heads + head) * capacity_ * rounded(sizes_.value_dim) +
         first * kernels::panel_width();
}

void PackedKeyValues::append(const Heads& keys, const Heads& values) {
  constexpr std::size_t kWork = 8;  // to transpose an element
  const std::size_t moved = keys.length * (sizes_.key_dim + sizes_.value_dim);
  parallel_ranges(sizes_.batch * sizes_.heads, kWork * moved, 1,
                  [&](std::size_t first, std::size_t end) {
                    for (std::size_t of = first; of < end; ++of) {
                      append_head(keys, values, of / sizes_.heads, of % sizes_.heads);
                    }
                  });
  length_ += keys.length;
}

void PackedKeyValues::append_head(const Heads& keys, const Heads& values, std::size_t batch,
                                  std::size_t head) {
  const std::size_t width = kernels::panel_width();
  float* key_panels = const_cast<float*>(this->keys(batch, head));
  float* value_panels = const_cast<float*>(this->values(batch, head));
  for (std::size_t t = 0; t < keys.length; ++t) {
    const std::size_t position = length_ + t;
    const float* key = keys.row(batch, t, head);
    float* key_column = key_panels + position / width * key_panel_stride() + position % width;
    for (std::size_t i = 0; i < sizes_.key_dim; ++i) key_column[i * width] = key[i];
    const float* value = values.row(batch, t, head);
    float* value_row = value_panels + position * width;
    for (std::size_t i = 0; i < sizes_.value_dim; ++i) {
      value_row[i / width * value_panel_stride() + i % width] = value[i];
    }
  }
}

void PackedKeyValues::copy_from(const PackedKeyValues& other, std::span<const std::size_t> rows) {
  length_ = other.length_;
  for (std::size_t row = 0; row < rows.size(); ++row) copy_row(row, other, rows[row]);
}

void PackedKeyValues::copy_row(std::size_t to, const PackedKeyValues& other, std::size_t from) {
  const std::size_t width = kernels::panel_width();
  for (std::size_t head = 0; head < sizes_.heads; ++head) {
    std::memcpy(const_cast<float*>(keys(to, head)), other.keys(from, head),
                rounded(length_) * sizes_.key_dim * sizeof(float));
    for (std::size_t panel = 0; panel < panels_of(sizes_.value_dim); ++panel) {
      std::memcpy(const_cast<float*>(values(to, head)) + panel * value_panel_stride(),
                  other.values(from, head) + panel * other.value_panel_stride(),
                  length_ * width * sizeof(float));
    }
  }
}

std::size_t KeyValueCache::length() const {
  return layers_.empty() ? 0 : layers_.front().store.length();
}

std::size_t KeyValueCache::batch() const {
  return layers_.empty() ? 0 : layers_.front().store.sizes().batch;
}

std::size_t KeyValueCache::capacity() const {
  return layers_.empty() ? 0 : layers_.front().store.capacity();
}

std::size_t KeyValueCache::bytes() const {
  std::size_t total = 0;
  for (const std::vector<Layer>* layers : {&layers_, &memory_}) {
    for (const Layer& layer : *layers) {
      total += (layer.keys.capacity() + layer.values.capacity()) * sizeof(float);
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
    const std::size_t doubled = std::min(2 * entry.store.capacity(), max_positions_);
    Layer larger;
    allocate(larger, sizes, PackedKeyValues::rounded(std::max(needed, doubled)));
    if (length != 0) {
      std::vector<std::size_t> all(sizes.batch);
      std::iota(all.begin(), all.end(), std::size_t{0});
      larger.store.copy_from(entry.store, all);
    }
    entry = std::move(larger);
  }
  return entry.store;
}

void KeyValueCache::allocate(Layer& layer, const PackedKeyValues::Sizes& sizes,
                             std::size_t capacity) {
  layer.keys = Tensor({PackedKeyValues::key_floats(sizes, capacity)});
  layer.values = Tensor({PackedKeyValues::value_floats(sizes, capacity)});
  layer.store = PackedKeyValues(sizes, capacity, layer.keys.f32(), layer.values.f32());
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

void KeyValueCache::crop(std::size_t length) {
  if (length > this->length()) {
    fail(ErrorCode::invalid_argument, "key/value cache: cannot crop to ", length, ", it holds ",
         this->length(), " positions");
  }
  for (Layer& layer : layers_) layer.store.crop(length);
}

void KeyValueCache::select(Layer& layer, std::span<const std::size_t> rows) {
  PackedKeyValues::Sizes sizes = layer.store.sizes();
  if (layer.store.length() == 0) return;
  if (rows.size() != sizes.batch) {
    Layer selected;
    sizes.batch = rows.size();
    allocate(selected, sizes, layer.store.capacity());
    selected.store.copy_from(layer.store, rows);
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
  copies.store.copy_from(layer.store, from);
  for (std::size_t i = 0; i < moved.size(); ++i) layer.store.copy_row(moved[i], copies.store, i);
}

void KeyValueCache::select(std::span<const std::size_t> rows) {
  for (const std::size_t row : rows) {
    if (row >= batch()) {
      fail(ErrorCode::invalid_argument, "key/value cache: there is no sequence ", row,
           ", it holds ", batch());
    }
  }
  for (std::vector<Layer>* layers : {&layers_, &memory_}) {
    for (Layer& layer : *layers) select(layer, rows);
  }
  for (Tensor* tensor : {&memory_states, &memory_mask}) {
    if (tensor->empty()) continue;
    const std::size_t bytes = tensor->view().bytes() / tensor->dim(0);
    Shape shape = tensor->shape();
    shape[0] = rows.size();
    Tensor selected(shape, tensor->dtype());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      std::memcpy(static_cast<char*>(selected.data()) + row * bytes,
                  static_cast<const char*>(tensor->data()) + rows[row] * bytes, bytes);
    }
    *tensor = std::move(selected);
  }
}

}  // namespace clearformer
