// WeightScope: a node in the tree of module names, from which layers load themselves.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "clearformer/weights/name_map.h"
#include "clearformer/weights/weights.h"

namespace clearformer {

/// The tensors under a name prefix.
class WeightScope {
 public:
  WeightScope(Weights& weights, const NameMap& names, std::string path = "")
      : weights_(&weights), names_(&names), path_(std::move(path)) {}

  /// The scope of a child module: scope / "attn" / "q_proj".
  WeightScope operator/(std::string_view child) const;

  /// Whether the checkpoint holds this module's tensor `leaf` ("weight", "bias").
  bool has(std::string_view leaf) const;
  /// The shape of `leaf` in the checkpoint, for layers that infer their sizes from it.
  std::optional<Shape> stored_shape(std::string_view leaf) const;
  /// This module's tensor, checked against the expected shape; empty if there is a problem, which Weights::check()
  /// reports.
  Tensor take(std::string_view leaf, const Shape& expected) const;
  /// The same for the weight (out, in) of a linear layer, which may be quantised.
  Matrix take_matrix(std::string_view leaf, const Shape& expected, MatrixRole role) const;
  /// The same, with any number of leading axes of size 1 in the file: [1, 1, D] for [D].
  Tensor take_flat(std::string_view leaf, const Shape& expected) const;
  /// Says where the layer keeps the numbers of `leaf`, which it has taken: needed after take_matrix(), and where they
  /// are not in the tensor that take() returned; and where the low-rank updates of a linear layer are.
  void hold(std::string_view leaf, std::shared_ptr<WeightRows> rows,
            std::shared_ptr<LowRankUpdates> updates = nullptr) const;

 private:
  std::string path(std::string_view leaf) const;

  Weights* weights_;
  const NameMap* names_;
  std::string path_;
};

}  // namespace clearformer
