// Parameters: the weights of a model, read and changed where its layers hold them.
//
// A ParameterView says how the rows of one or several weights lie in a tensor, for example in the checkpoint's, where
// they may be stacked and transposed. Each axis of the view steps through the rows or through the columns of a weight.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/weights/parameter.h"

namespace clearformer {

/// A tensor that is read from weights and written to them.
struct ParameterView {
  /// Where an axis of the view is in a weight.
  struct Axis {
    enum class Of { rows, columns } of = Of::rows;
    std::size_t step = 1;            // in rows or columns of the weight
    std::size_t first = 0, end = 0;  // the part of the view's axis that the weight covers
  };
  /// The part of the view that one weight holds.
  struct Piece {
    const Parameter* parameter = nullptr;
    std::vector<Axis> axes = {};
    std::size_t first_row = 0;         // of the weight, at the view's beginning
    float scale = 1.0f, shift = 0.0f;  // the view has scale · weight + shift
  };

  std::string name;
  Shape shape{0};
  std::vector<Piece> pieces;  // none: zeros, of a bias that the model does not have
  bool with_updates = false;  // read with the low-rank updates in force added
};

/// A part of a tensor; as it is, the whole.
struct Region {
  Shape start, size;  // by axis

  bool whole() const { return start.rank() == 0 && size.rank() == 0; }
};

/// A change of a parameter, or of a region of it.
struct ParameterEdit {
  enum class Op { replace, add, scale, rank_one } op = Op::replace;
  TensorView value;  // of the region's shape, or one number; rank_one: the left vectors (…, m)
  TensorView right =
      {};  // rank_one: (…, n), for a region (…, m, n), to which left ⊗ right is added
  Region region = {};
};

/// The parameters of a model by their names in the checkpoint, and the changes made to them.
class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(std::vector<Parameter> all);

  /// A tensor of the checkpoint, as the model holds it.
  struct Listed {
    std::string name, path;  // the path of the first weight in it
    Shape shape{0};
    MatrixFormat format;
    std::size_t bytes = 0;   // in memory
    std::size_t inputs = 0;  // of the linear layer whose weight it is, or 0
  };
  /// Each tensor of the checkpoint once, in the order of the forward pass's layers.
  std::vector<Listed> list() const;
  /// The checkpoint's tensor of that name; none if the model does not use it.
  std::optional<ParameterView> stored(std::string_view name) const;
  const std::vector<Parameter>& all() const { return all_; }
  /// The parameter under our own name for it; null if there is none.
  const Parameter* find(std::string_view path) const;

  /// Copies a view, or a region of it, widened to floats. Throws invalid_argument for a region outside of it.
  static Tensor read(const ParameterView& view, const Region& region = {});

  /// Changes the weights of a view in place, so that all passes that begin afterwards use them, and keeps the previous
  /// numbers for undo(). Throws shape_mismatch for a value of another shape than the region's, unsupported for weights
  /// that are quantised or that the model does not have, invalid_argument for numbers that fp16 does not hold, and
  /// out_of_memory; then nothing is changed.
  void edit(const ParameterView& view, const ParameterEdit& edit);
  /// Takes back the last `count` edits, the latest first: the weights have the bits they had before. Throws
  /// invalid_argument if there are fewer, or out_of_memory; then none is.
  void undo(std::size_t count);
  /// The number of edits in force, and the bytes kept to undo them.
  std::size_t edits() const { return edits_.size(); }
  std::size_t bytes_for_undo() const;

 private:
  // The numbers of the weights, not of the view: without its scale and shift.
  struct Edited {
    ParameterView view;
    Region region;
    Tensor before;
  };

  std::vector<Parameter> all_;
  std::vector<Edited> edits_;
};

}  // namespace clearformer
