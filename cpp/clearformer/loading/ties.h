// Ties: tensors of a file that may be the same. If the config ties the output layer to the token embedding but the
// file holds two different tensors, the model uses both, as transformers 5 does, whichever of the names the file
// stores them under.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clearformer/models/config.h"
#include "clearformer/weights/name_map.h"
#include "clearformer/weights/weights.h"

namespace clearformer {

/// Two of our names that may denote the same tensor: `tensor` is dropped if it equals `source`.
struct Tie {
  std::string_view tensor, source;
};

/// In the order of transformers' tables of tied weights.
std::vector<Tie> ties_of(const ModelConfig& config);

/// What settle_ties() has decided. Names are those in the file.
struct SettledTies {
  std::string untied;  // an output layer that is, or may be, another tensor than the embedding
  std::vector<std::string> same;  // tensors that are one, or should be: headers do not tell
};

/// Drops tensors that duplicate another byte for byte, renames those stored under the other name, and unties the
/// output layer if the file has a different one, or one that cannot be compared since only headers were read. Throws
/// unsupported for token embedding tables that should be tied and differ.
SettledTies settle_ties(ModelConfig& config, Weights& weights, const NameMap& names);

}  // namespace clearformer
