// SelectedRegion: the part of a hook point's tensor that an edit or a capture selects, and how a value is broadcast to it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "clearformer/layers/noise.h"
#include "clearformer/layers/trace.h"

namespace clearformer {

/// The axes of a legend that can be selected from. Of scores and patterns, `position` is the queries', `key` the
/// keys'; `feature` is the last axis if it is none of the others.
struct EditAxes {
  std::optional<std::size_t> batch, position, key, head, feature;
  explicit EditAxes(std::string_view legend);
};

/// A selected index of an axis, and its place among those that the value is broadcast to.
struct Selected {
  std::size_t index, place;
};

/// The indices selected by an edit or a capture, for each axis.
struct SelectedRegion {
  std::array<std::vector<Selected>, Shape::kMaxRank> picked;
  Shape shape;    // of the region
  Shape extents;  // which a value has to fit: those of the region, but each row of the prompts once
  Shape strides;  // of the tensor

  /// The whole tensor.
  explicit SelectedRegion(const Shape& of);
  void pick(std::size_t axis, std::vector<Selected> selected, std::size_t extent);
};

/// The lists of indices of an edit or a capture, and how messages name it.
struct Selection {
  const std::vector<std::int64_t>&rows, &heads, &positions, &key_positions, &features;
  std::string what;
  bool once = false;  // no index twice, as negative ones may be
};

/// "edit: zero at blocks.0.hook_mlp_out".
std::string described(const Edit& edit, std::string_view hook);

/// What is selected; for `steps` see apply() in edit.h. Throws invalid_argument.
SelectedRegion region_of(const Selection& selection, const Offered& offered, const EditAxes& axes,
                         const Steps& steps);
SelectedRegion region_of(const Edit& edit, const Offered& offered, const EditAxes& axes,
                         const Steps& steps = {});

/// A value broadcast to a region, without a copy.
class Operand {
 public:
  /// Throws shape_mismatch for a value that does not fit.
  Operand(const Tensor& value, const Edit& edit, const Offered& offered,
          const SelectedRegion& region);

  explicit operator bool() const { return data_ != nullptr; }
  /// The number for an element, by its place on each axis.
  float at(const Shape& places) const;

 private:
  const float* data_;
  Shape strides_;
};

/// The elements of a region in row-major order: `for (RegionWalk at(region); at; at.advance())`.
class RegionWalk {
 public:
  explicit RegionWalk(const SelectedRegion& region);
  explicit operator bool() const { return left_ > 0; }
  void advance();

  std::size_t element = 0;  // offset in the tensor
  Shape places;             // on each axis

 private:
  void read();
  const SelectedRegion& region_;
  Shape at_;
  std::size_t left_;
};

/// The noise of an edit, of a standard deviation of 1: each number depends on the seed, the hook, the place of the row
/// among those selected, the position in the sequence and the element's other indices.
class EditNoise {
 public:
  EditNoise(const Edit& edit, const Offered& offered, const EditAxes& axes,
            const SelectedRegion& region)
      : of_hook_(edit.seed.value_or(0), offered.name),
        axes_(axes),
        region_(region),
        past_(offered.past) {}
  float at(const RegionWalk& walk) const;

 private:
  NoiseKey of_hook_;
  const EditAxes& axes_;
  const SelectedRegion& region_;
  std::size_t past_;
};

}  // namespace clearformer
