// Parameter: a weight of a model with its second owner: the list of a model's parameters, beside the layer that uses
// it. Both are the same memory; nothing is copied before it is read.
#pragma once

#include <memory>
#include <string>

#include "clearformer/tensor/matrix.h"
#include "clearformer/weights/name_map.h"

namespace clearformer {

class LowRankUpdates;  // layers/low_rank.h

/// A weight that a layer took from a checkpoint.
struct Parameter {
  std::string path;   // ours: "blocks.0.attn.q_proj.weight"
  StoredName stored;  // the checkpoint's tensor that it is, or is a part of
  Shape stored_shape{0};
  RowRuns places = {};                           // of its outputs among the checkpoint's
  std::shared_ptr<WeightRows> rows;              // (outputs, …); a scalar is one row of one number
  std::shared_ptr<LowRankUpdates> updates = {};  // of a linear layer; null for other weights

  /// Whether the checkpoint holds the transpose.
  bool turned() const { return stored.layout == Layout::in_out && stored_shape.rank() == 2; }
  /// Whether it is (in) the weight of a linear layer, as torch has them: not of a stack of experts.
  bool is_adapted() const { return updates != nullptr && stored.experts == 0; }
};

}  // namespace clearformer
