// Reads rotary positions from a config.json: "rope_parameters" (transformers 5), or
// "rope_scaling", "rope_theta" and "partial_rotary_factor" (older versions).
#pragma once

#include <string_view>

#include "clearformer/layers/rotary_frequencies.h"
#include "clearformer/weights/config_reader.h"

namespace clearformer {

/// Which rotary parameters an architecture obeys.
struct RotaryKeys {
  std::string_view layer_type = "";       // member of "rope_parameters" for these layers
  std::string_view theta = "rope_theta";  // key of the base in older configs
  /// Key of the rotated part of each head in older configs.
  std::string_view part = "partial_rotary_factor";
  bool scaled = true;  // "rope_scaling" applies to these layers
  bool alpha = false;  // "alpha" of the rope_type dynamic
  /// Whether "partial_rotary_factor" applies to the default rope_type: most models ignore it there.
  enum class Partial { obeyed, ignored } partial = Partial::obeyed;
  /// Phi-3's older names: "su" and "yarn" for what is now longrope.
  enum class Names { usual, phi3 } names = Names::usual;
};

/// The rotary embedding of heads of size d_head in a model of `max_positions` positions. Keys, their
/// defaults and their precedence are those of transformers. Throws unsupported for an unknown
/// rope_type, the reader's code for values that break a rule.
RotaryConfig read_rotary(const ConfigReader& config, std::size_t d_head, std::size_t max_positions,
                         const RotaryKeys& keys = {});

}  // namespace clearformer
