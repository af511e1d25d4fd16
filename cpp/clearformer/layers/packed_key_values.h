// PackedKeyValues: the keys and values of one layer in the panels that matmul reads, so that attention needs no copy; in
// fp32, or rounded to fp16 or eight bits as they are appended.
// Shapes: B batch, S positions, G key/value heads, d head size, W panel width.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "clearformer/layers/heads.h"

namespace clearformer {

namespace kernels {
enum class PanelElement;  // of matmul.h, which is private
}

/// What keys and values are stored in. The rounded ones have a float scale for each key and each value of a head:
///   f16   IEEE binary16, rounded to nearest even; the scale is 1, or a power of two for numbers above 65,504
///   q8    integers within ±127; the scale is the largest magnitude / 127
/// A key or value that is not finite has the scale NaN.
enum class CacheFormat { f32, f16, q8 };

/// The format of a cache_dtype option ("fp32", "fp16", "q8"); nullopt for other names.
std::optional<CacheFormat> cache_format_named(std::string_view name);
/// The cache_dtype option that selects it.
std::string_view to_string(CacheFormat format);
/// Bytes of a key or value of `width` numbers with its scale.
std::size_t bytes_of(CacheFormat format, std::size_t width);

/// Keys and values of one layer in the layout of attention. For each (batch, head), in elements:
///   keys    panels of W positions: position s, dimension i at (s / W · d + i) · W + s % W
///   values  panels of W dimensions: position s, dimension i at (i / W · capacity + s) · W + i % W
/// (halves in the order of PanelElement::f16 in place of s % W and i % W). All elements are followed by the scales, (B, G,
/// capacity).
class PackedKeyValues {
 public:
  /// All sizes except the number of positions.
  struct Sizes {
    std::size_t batch = 0, heads = 0, key_dim = 0, value_dim = 0;
    bool operator==(const Sizes&) const = default;
  };

  PackedKeyValues() = default;
  /// `keys` and `values` have room for key_bytes() and value_bytes().
  PackedKeyValues(const Sizes& sizes, CacheFormat format, std::size_t capacity, void* keys,
                  void* values);

  /// Bytes for `capacity` positions (a multiple of W, see rounded).
  static std::size_t key_bytes(const Sizes& sizes, CacheFormat format, std::size_t capacity);
  static std::size_t value_bytes(const Sizes& sizes, CacheFormat format, std::size_t capacity);
  static std::size_t rounded(std::size_t positions);

  const Sizes& sizes() const { return sizes_; }
  CacheFormat format() const { return format_; }
  kernels::PanelElement element() const;
  std::size_t length() const { return length_; }
  std::size_t capacity() const { return capacity_; }

  /// Packs keys (B, T, G, d) and values (B, T, G, d_v) after those present.
  void append(const Heads& keys, const Heads& values);
  void crop(std::size_t length) { length_ = length; }

  /// Keys from position `first`, a multiple of W, on.
  const void* keys(std::size_t batch, std::size_t head, std::size_t first = 0) const;
  const void* values(std::size_t batch, std::size_t head, std::size_t first = 0) const;
  std::size_t key_panel_stride() const;
  std::size_t value_panel_stride() const;
  /// The scales of the positions from `first` on; null in f32.
  const float* key_scales(std::size_t batch, std::size_t head, std::size_t first = 0) const;
  const float* value_scales(std::size_t batch, std::size_t head, std::size_t first = 0) const;

  /// Copies the first `length` positions of the sequences `rows` of another store with the same heads; rows may repeat.
  void copy_from(const PackedKeyValues& other, std::span<const std::size_t> rows,
                 std::size_t length);
  /// Copies sequence `from` of a store of at least this length to sequence `to`.
  void copy_row(std::size_t to, const PackedKeyValues& other, std::size_t from);

 private:
  void append_floats(const Heads& keys, const Heads& values, std::size_t batch, std::size_t head);
  template <class Element>
  void append_head(const Heads& keys, const Heads& values, std::size_t batch, std::size_t head);
  const float* scales(const void* of, std::size_t width, std::size_t batch, std::size_t head) const;

  Sizes sizes_;
  CacheFormat format_ = CacheFormat::f32;
  std::size_t capacity_ = 0;
  std::size_t length_ = 0;
  void* keys_ = nullptr;
  void* values_ = nullptr;
};

}  // namespace clearformer
