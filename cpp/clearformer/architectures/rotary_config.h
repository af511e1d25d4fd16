// Rotary positions as a config.json spells them: "rope_parameters" (transformers 5), or
// "rope_scaling" with "rope_theta" and "partial_rotary_factor" beside it (before).
#pragma once

#include <string_view>

#include "clearformer/layers/rotary_frequencies.h"
#include "clearformer/weights/config_reader.h"

namespace clearformer {

/// How an architecture obeys its rotary parameters.
struct RotaryKeys {
  std::string_view layer_type = "";       // member of "rope_parameters" with those of these layers
  std::string_view theta = "rope_theta";  // in the spelling before
  bool scaled = true;                     // "rope_scaling" holds for these layers, too
  /// Whether the plain kind of embedding turns a part of each head: most models ignore
  /// "partial_rotary_factor" there, whatever it says.
  enum class Partial { obeyed, ignored } partial = Partial::obeyed;
  /// Phi-3's names before: "su" and "yarn" were what is called longrope now.
  enum class Names { usual, phi3 } names = Names::usual;
};

/// The rotary embedding of heads of size d_head in a model of `max_positions` positions. Keys, their
/// defaults and which of two spellings counts are transformers'. Throws unsupported for an unknown
/// rope_type, the reader's code for values that break a rule.
RotaryConfig read_rotary(const ConfigReader& config, std::size_t d_head, std::size_t max_positions,
                         const RotaryKeys& keys = {});

}  // namespace clearformer
