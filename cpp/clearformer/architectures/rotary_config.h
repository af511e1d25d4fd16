// Rotary positions as a config.json spells them: "rope_parameters" (transformers 5), or
// "rope_scaling" with "rope_theta" and "partial_rotary_factor" beside it (before).
#pragma once

#include <string_view>

#include "clearformer/layers/rotary_frequencies.h"
#include "clearformer/weights/config_reader.h"

namespace clearformer {

/// Where an architecture keeps the parameters, in models whose layers have several kinds.
struct RotaryKeys {
  std::string_view layer_type = "";       // member of "rope_parameters" with those of these layers
  std::string_view theta = "rope_theta";  // in the spelling before
  double usual_theta = 10000.0;
  bool scaled = true;  // "rope_scaling" holds for these layers, too
  double usual_partial_factor = 1.0;
};

/// The rotary embedding of heads of size d_head in a model of `max_positions` positions. Keys, their
/// defaults and which of two spellings counts are transformers'. Throws unsupported for an unknown
/// rope_type, the reader's code for values that break a rule.
RotaryConfig read_rotary(const ConfigReader& config, std::size_t d_head, std::size_t max_positions,
                         const RotaryKeys& keys = {});

/// How long sequences may get in a model of `max_positions` positions: dynamic scaling is there to
/// go beyond them, up to its factor; the others state the stretched length themselves.
std::size_t reachable_positions(const RotaryConfig& rotary, std::size_t max_positions);

}  // namespace clearformer
