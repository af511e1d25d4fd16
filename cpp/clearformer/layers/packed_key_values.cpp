#include "clearformer/layers/packed_key_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/kernels/transpose.h"
#include "clearformer/tensor/rounding.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

std::size_t panels_of(std::size_t columns) {
  const std::size_t width = kernels::panel_width();
  return (columns + width - 1) / width;
}

std::size_t element_size(CacheFormat format) {
  return format == CacheFormat::f32 ? 4 : format == CacheFormat::f16 ? 2 : 1;
}

// Of a whole store, whose rows have `width` numbers in the panels' layout.
std::size_t all_bytes(const PackedKeyValues::Sizes& sizes, CacheFormat format, std::size_t capacity,
                      std::size_t width) {
  return Shape{sizes.batch, sizes.heads, capacity, bytes_of(format, width)}.elements();
}

const void* element_at(const void* first, std::size_t index, CacheFormat format) {
  return static_cast<const char*>(first) + index * element_size(format);
}

// The largest magnitude; NaN if a number is not finite. Without the sign bit, floats are ordered as their bits are, with
// infinities and NaNs last.
float magnitude_of(const float* x, std::size_t count) {
  constexpr std::uint32_t kInfinity = 0x7f800000u;
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu);
  }
  return largest < kInfinity ? std::bit_cast<float>(largest) : NAN;
}

// How a row of numbers is rounded to Elements: each times `inverse`, which undoes `scale`.
struct RowScale {
  float scale, inverse;
};

template <class Element>
RowScale row_scale(const float* x, std::size_t count);
template <>
RowScale row_scale<std::uint16_t>(const float* x, std::size_t count) {
  const float magnitude = magnitude_of(x, count);
  if (magnitude <= 65504.0f) return {1.0f, 1.0f};
  if (std::isnan(magnitude)) return {NAN, 0.0f};
  const int exponent = std::ilogb(magnitude) - 14;
  return {std::ldexp(1.0f, exponent), std::ldexp(1.0f, -exponent)};
}
template <>
RowScale row_scale<std::int8_t>(const float* x, std::size_t count) {
  constexpr float kLimit = 127.0f, kSmallest = 1e-30f;  // below it, the inverse may overflow
  const float magnitude = magnitude_of(x, count);
  if (std::isnan(magnitude)) return {NAN, 0.0f};
  return {magnitude / kLimit, magnitude > kSmallest ? kLimit / magnitude : 0.0f};
}

inline void round_to(std::uint16_t& to, float value) { to = f16_from_float(value); }
inline void round_to(std::int8_t& to, float value) {
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it rounds to even
  const auto bits = std::bit_cast<std::uint32_t>(value + kRound);
  to = static_cast<std::int8_t>(bits & 0xffu);
}

// The place of a column among the W of a panel.
template <class Element>
std::size_t place_of(std::size_t column) {
  return std::is_same_v<Element, std::uint16_t> ? kernels::place_of_half(column) : column;
}

}  // namespace

std::optional<CacheFormat> cache_format_named(std::string_view name) {
  for (const CacheFormat format : {CacheFormat::f32, CacheFormat::f16, CacheFormat::q8}) {
    if (to_string(format) == name) return format;
  }
  return std::nullopt;
}

std::string_view to_string(CacheFormat format) {
  return format == CacheFormat::f32 ? "fp32" : format == CacheFormat::f16 ? "fp16" : "q8";
}

std::size_t bytes_of(CacheFormat format, std::size_t width) {
  return width * element_size(format) + (format == CacheFormat::f32 ? 0 : sizeof(float));
}

PackedKeyValues::PackedKeyValues(const Sizes& sizes, CacheFormat format, std::size_t capacity,
                                 void* keys, void* values)
    : sizes_(sizes), format_(format), capacity_(capacity), keys_(keys), values_(values) {}

std::size_t PackedKeyValues::rounded(std::size_t positions) {
  return panels_of(positions) * kernels::panel_width();
}

std::size_t PackedKeyValues::key_bytes(const Sizes& sizes, CacheFormat format,
                                       std::size_t capacity) {
  return all_bytes(sizes, format, capacity, sizes.key_dim);
}

std::size_t PackedKeyValues::value_bytes(const Sizes& sizes, CacheFormat format,
                                         std::size_t capacity) {
  return all_bytes(sizes, format, capacity, rounded(sizes.value_dim));
}

kernels::PanelElement PackedKeyValues::element() const {
  switch (format_) {
    case CacheFormat::f16: return kernels::PanelElement::f16;
    case CacheFormat::q8: return kernels::PanelElement::i8;
    default: return kernels::PanelElement::f32;
  }
}

std::size_t PackedKeyValues::key_panel_stride() const {
  return sizes_.key_dim * kernels::panel_width();
}

std::size_t PackedKeyValues::value_panel_stride() const {
  return capacity_ * kernels::panel_width();
}

const void* PackedKeyValues::keys(std::size_t batch, std::size_t head, std::size_t first) const {
  const std::size_t row = (batch * sizes_.heads + head) * capacity_ + first;
  return element_at(keys_, row * sizes_.key_dim, format_);
}

const void* PackedKeyValues::values(std::size_t batch, std::size_t head, std::size_t first) const {
  const std::size_t row = (batch * sizes_.heads + head) * capacity_;
  const std::size_t index = row * rounded(sizes_.value_dim) + first * kernels::panel_width();
  return element_at(values_, index, format_);
}

const float* PackedKeyValues::scales(const void* of, std::size_t width, std::size_t batch,
                                     std::size_t head) const {
  if (format_ == CacheFormat::f32) return nullptr;
  const std::size_t elements = sizes_.batch * sizes_.heads * capacity_ * width;
  return static_cast<const float*>(element_at(of, elements, format_)) +
         (batch * sizes_.heads + head) * capacity_;
}

const float* PackedKeyValues::key_scales(std::size_t batch, std::size_t head,
                                         std::size_t first) const {
  const float* all = scales(keys_, sizes_.key_dim, batch, head);
  return all == nullptr ? nullptr : all + first;
}

const float* PackedKeyValues::value_scales(std::size_t batch, std::size_t head,
                                           std::size_t first) const {
  const float* all = scales(values_, rounded(sizes_.value_dim), batch, head);
  return all == nullptr ? nullptr : all + first;
}

void PackedKeyValues::append(const Heads& keys, const Heads& values) {
  constexpr std::size_t kWork = 8;  // to transpose an element
  const std::size_t moved = keys.length * (sizes_.key_dim + sizes_.value_dim);
  parallel_ranges(sizes_.batch * sizes_.heads, kWork * moved, 1,
                  [&](std::size_t first, std::size_t end) {
                    for (std::size_t of = first; of < end; ++of) {
                      const std::size_t batch = of / sizes_.heads, head = of % sizes_.heads;
                      switch (format_) {
                        case CacheFormat::f32: append_floats(keys, values, batch, head); break;
                        case CacheFormat::f16:
                          append_head<std::uint16_t>(keys, values, batch, head);
                          break;
                        case CacheFormat::q8: append_head<std::int8_t>(keys, values, batch, head);
                      }
                    }
                  });
  length_ += keys.length;
}

// Runs of positions within a panel of keys: there, a key is a column.
void PackedKeyValues::append_floats(const Heads& keys, const Heads& values, std::size_t batch,
                                    std::size_t head) {
  const std::size_t width = kernels::panel_width();
  auto* const key_panels = static_cast<float*>(const_cast<void*>(this->keys(batch, head)));
  auto* const value_panels = static_cast<float*>(const_cast<void*>(this->values(batch, head)));
  for (std::size_t t = 0, run = 0; t < keys.length; t += run) {
    const std::size_t position = length_ + t, column = position % width;
    run = std::min(keys.length - t, width - column);
    kernels::transpose(keys.row(batch, t, head), keys.row_stride, run, sizes_.key_dim,
                       key_panels + (position - column) * sizes_.key_dim + column, width);
    for (std::size_t i = 0; i < sizes_.value_dim; i += width) {
      float* to = value_panels + i * capacity_ + position * width;
      for (std::size_t row = 0; row < run; ++row, to += width) {
        std::copy_n(values.row(batch, t + row, head) + i, std::min(width, sizes_.value_dim - i),
                    to);
      }
    }
  }
}

template <class Element>
void PackedKeyValues::append_head(const Heads& keys, const Heads& values, std::size_t batch,
                                  std::size_t head) {
  const std::size_t width = kernels::panel_width();
  auto* key_panels = static_cast<Element*>(const_cast<void*>(this->keys(batch, head)));
  auto* value_panels = static_cast<Element*>(const_cast<void*>(this->values(batch, head)));
  auto* of_keys = const_cast<float*>(key_scales(batch, head));
  auto* of_values = const_cast<float*>(value_scales(batch, head));
  for (std::size_t t = 0; t < keys.length; ++t) {
    const std::size_t position = length_ + t;
    const float* key = keys.row(batch, t, head);
    const float* value = values.row(batch, t, head);
    const RowScale by_key = row_scale<Element>(key, sizes_.key_dim);
    const RowScale by_value = row_scale<Element>(value, sizes_.value_dim);
    if (of_keys != nullptr) of_keys[position] = by_key.scale;
    if (of_values != nullptr) of_values[position] = by_value.scale;
    Element* column =
        key_panels + position / width * key_panel_stride() + place_of<Element>(position % width);
    for (std::size_t i = 0; i < sizes_.key_dim; ++i) {
      round_to(column[i * width], key[i] * by_key.inverse);
    }
    for (std::size_t i = 0; i < sizes_.value_dim; i += width) {
      Element* row = value_panels + i * capacity_ + position * width;
      for (std::size_t j = 0; j < std::min(width, sizes_.value_dim - i); ++j) {
        round_to(row[place_of<Element>(j)], value[i + j] * by_value.inverse);
      }
    }
  }
}

void PackedKeyValues::copy_from(const PackedKeyValues& other, std::span<const std::size_t> rows,
                                std::size_t length) {
  length_ = length;
  for (std::size_t row = 0; row < rows.size(); ++row) copy_row(row, other, rows[row]);
}

void PackedKeyValues::copy_row(std::size_t to, const PackedKeyValues& other, std::size_t from) {
  const auto copy = [](const void* target, const void* source, std::size_t bytes) {
    std::memcpy(const_cast<void*>(target), source, bytes);
  };
  const std::size_t width = kernels::panel_width(), size = element_size(format_);
  for (std::size_t head = 0; head < sizes_.heads; ++head) {
    copy(keys(to, head), other.keys(from, head), rounded(length_) * sizes_.key_dim * size);
    for (std::size_t panel = 0; panel < panels_of(sizes_.value_dim); ++panel) {
      copy(element_at(values(to, head), panel * value_panel_stride(), format_),
           element_at(other.values(from, head), panel * other.value_panel_stride(), format_),
           length_ * width * size);
    }
    if (format_ == CacheFormat::f32) continue;
    copy(key_scales(to, head), other.key_scales(from, head), length_ * sizeof(float));
    copy(value_scales(to, head), other.value_scales(from, head), length_ * sizeof(float));
  }
}

}  // namespace clearformer
