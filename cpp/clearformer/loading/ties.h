// Ties: tensors of a file that may be one. A model whose config ties its output layer to its table of
// words takes the file's own where the two differ, as transformers 5 does; which of the names a file
// has them under does not matter.
#pragma once

#include <string_view>
#include <vector>

#include "clearformer/models/config.h"
#include "clearformer/weights/name_map.h"
#include "clearformer/weights/weights.h"

namespace clearformer {

/// Two of our names for what may be one tensor: `tensor` is dropped where it equals `source`.
struct Tie {
  std::string_view tensor, source;
};

/// In the order of transformers' tables.
std::vector<Tie> ties_of(const ModelConfig& config);

/// Drops tensors that repeat another byte by byte, finds those under another name, and unties the
/// output layer where the file has one of its own. Throws unsupported for tables of words that
/// should be one and differ.
void settle_ties(ModelConfig& config, Weights& weights, const NameMap& names);

}  // namespace clearformer
