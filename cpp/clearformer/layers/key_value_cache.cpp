#include "clearformer/layers/key_value_cache.h"

#include <algorithm>
#include <cstring>

#include "clearformer/kernels/matmul.h"

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

const float* PackedKeyValues::keys(std::size_t batch, std::size_t head) const {
  return keys_ + (batch * sizes_.heads + head) * capacity_ * sizes_.key_dim;
}

const float* PackedKeyValues::values(std::size_t batch, std::size_t head) const {
  return values_ + (batch * sizes_.heads + head) * capacity_ * rounded(sizes_.value_dim);
}

void PackedKeyValues::append(const Heads& keys, const Heads& values) {
  const std::size_t width = kernels::panel_width();
  for (std::size_t batch = 0; batch < sizes_.batch; ++batch) {
    for (std::size_t head = 0; head < sizes_.heads; ++head) {
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
  }
  length_ += keys.length;
}

void PackedKeyValues::copy_from(const PackedKeyValues& other) {
  length_ = other.length_;
  const std::size_t width = kernels::panel_width();
  for (std::size_t batch = 0; batch < sizes_.batch; ++batch) {
    for (std::size_t head = 0; head < sizes_.heads; ++head) {
      std::memcpy(const_cast<float*>(keys(batch, head)), other.keys(batch, head),
                  rounded(length_) * sizes_.key_dim * sizeof(float));
      for (std::size_t panel = 0; panel < panels_of(sizes_.value_dim); ++panel) {
        std::memcpy(const_cast<float*>(values(batch, head)) + panel * value_panel_stride(),
                    other.values(batch, head) + panel * other.value_panel_stride(),
                    length_ * width * sizeof(float));
      }
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
  for (const Layer& layer : layers_) {
    total += (layer.keys.capacity() + layer.values.capacity()) * sizeof(float);
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
    const std::size_t capacity = PackedKeyValues::rounded(std::max(needed, doubled));
    Tensor keys({PackedKeyValues::key_floats(sizes, capacity)});
    Tensor values({PackedKeyValues::value_floats(sizes, capacity)});
    PackedKeyValues store(sizes, capacity, keys.f32(), values.f32());
    if (length != 0) store.copy_from(entry.store);
    entry = {store, std::move(keys), std::move(values)};
  }
  return entry.store;
}

void KeyValueCache::crop(std::size_t length) {
  if (length > this->length()) {
    fail(ErrorCode::invalid_argument, "key/value cache: cannot crop to ", length, ", it holds ",
         this->length(), " positions");
  }
  for (Layer& layer : layers_) layer.store.crop(length);
}

}  // namespace clearformer
